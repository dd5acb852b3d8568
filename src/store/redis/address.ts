import { createClient } from 'redis';

import { SENTINEL_URL } from '../../config.ts';
import { StoreUnavailable } from '../../errors.ts';

const SENTINEL_PORT = 26_379;
const SENTINEL_MS = 2_000;

/** Of keys, to which node-redis adds it, and of channels. One hash tag for all keys: a script may touch any of them. */
export const PREFIX = '{partner-graph}:';

/** A client that sends no command twice. A lost socket is replaced by a new client: see `createConnection`. */
export const createBareClient = (
  url: string,
  timeouts?: { readonly connectTimeout: number; readonly socketTimeout: number },
) =>
  createClient({
    url,
    keyPrefix: PREFIX,
    disableOfflineQueue: true,
    commandsQueueMaxLength: 20_000,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { ...timeouts, reconnectStrategy: false },
  });

export type RedisClient = ReturnType<typeof createBareClient>;

async function ask(sentinel: string, name: string): Promise<readonly string[]> {
  const timeouts = { connectTimeout: SENTINEL_MS, socketTimeout: SENTINEL_MS };
  const client = createBareClient(sentinel, timeouts).on('error', () => {});
  try {
    await client.connect();
    return (await client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name])) ?? [];
  } catch {
    return [];
  } finally {
    client.destroy();
  }
}

/**
 * The database, and a function that locates the primary. It may change, so it is located before every connection.
 *
 * node-redis' `createSentinel` switches to a new primary between two commands, before that one has been verified, and
 * stays with an old primary that still answers. So a Sentinel is only asked for the address. Each time another one is
 * asked first: a Sentinel that is cut off from the others still names the old primary.
 */
export function addressOf(url: string) {
  const [, tls, user = '', hosts, name = '', number = '0'] = SENTINEL_URL.exec(url) ?? [];
  if (hosts === undefined)
    return { database: new URL(url).pathname.slice(1) || '0', locate: async () => url };
  let sentinels = hosts
    .split(',')
    .map((host) => `redis${tls}://${/:\d+$/.test(host) ? host : `${host}:${SENTINEL_PORT}`}`);
  const locate = async () => {
    sentinels = [...sentinels.slice(1), ...sentinels.slice(0, 1)];
    for (const sentinel of sentinels) {
      const [host, port] = await ask(sentinel, name);
      if (host === undefined) continue;
      return `redis${tls}://${user}${host.includes(':') ? `[${host}]` : host}:${port}/${number}`;
    }
    throw new StoreUnavailable('no Sentinel could name the primary');
  };
  return { database: number, locate };
}
