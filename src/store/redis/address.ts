import { createClient } from 'redis';

import { StoreUnavailable } from '../errors.ts';

/** The primary may change, so it is located before every connection. */
export interface Address {
  /** The URL of the primary as it is now. */
  readonly locate: () => Promise<string>;
  readonly database: string;
}

/** `redis+sentinel://user:password@host:26379,host:26379/name/database`. No URL parser takes several hosts. */
const SENTINELS = /^redis(s?)\+sentinel:\/\/([^/]*@)?([^/@]+)\/([^/]+)(\/\d+)?$/;
const SENTINEL_PORT = 26_379;
const SENTINEL_MS = 2_000;

/** A client without node-redis's own retries: no command is sent twice, and we replace a lost socket. */
export const createBareClient = (url: string, connectTimeout: number) =>
  createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 20_000,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout, reconnectStrategy: false },
  });

async function ask(sentinel: string, name: string): Promise<readonly [string, string] | null> {
  const client = createBareClient(sentinel, SENTINEL_MS).on('error', () => {});
  const question = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name];
  try {
    await within(client.connect(), SENTINEL_MS);
    return await within(client.sendCommand<[string, string] | null>(question), SENTINEL_MS);
  } catch {
    return null;
  } finally {
    client.destroy();
  }
}

/**
 * node-redis has a client for Sentinel, but that one sends a command again whose answer was lost. Here a
 * Sentinel is only asked for the address. Another one is asked first each time: one that is cut off from the
 * rest goes on naming the old primary.
 */
export function addressOf(url: string): Address {
  const [, tls, user = '', hosts, name, database = ''] = SENTINELS.exec(url) ?? [];
  if (hosts === undefined || name === undefined) {
    const isRedis = URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
    if (!isRedis) throw new StoreUnavailable('REDIS_URL must be a redis:// or rediss:// URL');
    return { locate: async () => url, database: new URL(url).pathname };
  }
  const sentinels = hosts
    .split(',')
    .map((host) => `redis${tls}://${/:\d+$/.test(host) ? host : `${host}:${SENTINEL_PORT}`}`);
  let turn = Math.floor(Math.random() * sentinels.length);
  async function locate(): Promise<string> {
    turn += 1;
    for (let at = 0; at < sentinels.length; at += 1) {
      const answer = await ask(sentinels[(turn + at) % sentinels.length] ?? '', name ?? '');
      if (!answer) continue;
      const [host, port] = answer;
      return `redis${tls}://${user}${host.includes(':') ? `[${host}]` : host}:${port}${database}`;
    }
    throw new StoreUnavailable('no Sentinel could name the primary');
  }
  return { locate, database };
}

/** A server that hangs keeps its socket open, and node-redis's timeout covers only the writing of a command. */
export async function within<Result>(promise: Promise<Result>, deadlineMs: number) {
  const late = Promise.withResolvers<never>();
  const error = new StoreUnavailable(`Redis did not answer within ${deadlineMs} ms`);
  const timer = setTimeout(() => late.reject(error), deadlineMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
