import { createClient } from 'redis';
import { StoreUnavailable } from '../errors.ts';

/** Where the primary is may change: it is asked for before every connection. */
export interface Address {
  /** The URL of the primary as it is now. */
  readonly locate: () => Promise<string>;
  readonly database: string;
}

/** `redis+sentinel://user:password@host:26379,host:26379/name/database`. No URL parser takes several hosts. */
const SENTINELS = /^redis(s?)\+sentinel:\/\/([^/]*@)?([^/@]+)\/([^/]+)(\/\d+)?$/;
const SENTINEL_PORT = 26_379;
const SENTINEL_MS = 2_000;

async function ask(sentinel: string, name: string): Promise<readonly [string, string] | null> {
  const client = createClient({
    url: sentinel,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { connectTimeout: SENTINEL_MS, reconnectStrategy: false },
  });
  client.on('error', () => {});
  try {
    await within(client.connect(), SENTINEL_MS);
    const question = client.sendCommand<[string, string] | null>([
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      name,
    ]);
    return await within(question, SENTINEL_MS);
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
function locateBy(sentinels: readonly string[], name: string, urlOf: (host: string) => string) {
  let turn = Math.floor(Math.random() * sentinels.length);
  return async () => {
    turn += 1;
    for (let at = 0; at < sentinels.length; at += 1) {
      const answer = await ask(sentinels[(turn + at) % sentinels.length] ?? '', name);
      if (!answer) continue;
      const [host, port] = answer;
      return urlOf(`${host.includes(':') ? `[${host}]` : host}:${port}`);
    }
    throw new StoreUnavailable('no Sentinel could tell where the primary is');
  };
}

export function addressOf(url: string): Address {
  const [, tls, user = '', hosts, name, database = ''] = SENTINELS.exec(url) ?? [];
  if (hosts === undefined || name === undefined) {
    const isRedis = URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol);
    if (!isRedis) throw new StoreUnavailable('REDIS_URL must be a redis:// or rediss:// URL');
    return { locate: async () => url, database: new URL(url).pathname };
  }
  const scheme = `redis${tls}://`;
  const sentinels = hosts
    .split(',')
    .map((host) => `${scheme}${/:\d+$/.test(host) ? host : `${host}:${SENTINEL_PORT}`}`);
  const urlOf = (host: string) => `${scheme}${user}${host}${database}`;
  return { locate: locateBy(sentinels, name, urlOf), database };
}

/** A server that hangs keeps its socket, and node-redis' own timeout ends with the writing of a command. */
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
