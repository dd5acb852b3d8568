import { inBackground } from '../background.ts';
import { GONE, NO_PAGE, PLACES_KEPT_MS, type PlaceEngine, createPlaces } from '../places.ts';
import {
  type KeyStore,
  QUARANTINE_MAX_ENTRIES,
  type Quarantine,
  type Store,
  type StoreSettings,
} from '../store.ts';
import { createRedisBus } from './bus.ts';
import { type RedisConnection, connect } from './connection.ts';
import { openRedisLog } from './event-log.ts';
import { PREFIX, names, runScript } from './scripts.ts';
import { type Writer, openWriter } from './writer.ts';

const CLEANUP_EVERY_MS = 60_000;
/** How soon an added replica is noticed. */
const INSPECT_EVERY_MS = 10_000;
/** How soon a dead connection of the subscriber is noticed: it sends nothing by itself. */
const PING_EVERY_MS = 2_000;

/** Many instances, one log: Redis 7 or Valkey, with scripts for whatever must happen as one step. */
export async function openRedis(url: string, settings: StoreSettings): Promise<Store> {
  const { retentionMs, clock, onProblem = () => {} } = settings;
  await using opened = new AsyncDisposableStack();
  const open = async (onLost?: (message: string) => void) => opened.use(await connect(url, onLost));
  const writing = await open(onProblem);
  // WAIT and XREAD block their connection, and a subscriber's takes no other commands.
  const [reader, tail, subscriber] = await Promise.all([open(), open(), open()]);
  // All connections must lead to the primary: a former primary may still answer reads.
  const writer = await openWriter(writing, onProblem, () => {
    for (const connection of [reader, tail, subscriber])
      connection.reconnect('another server took over');
  });
  for (const connection of [reader, tail, subscriber])
    await connection.prepare(writer.requireSameServer);
  const { log, drained } = await openRedisLog({ writer, reader, tail, retentionMs, clock });
  const places = createPlaces(placeEngine(reader));
  // Messages are for all databases of a server. Without a number the URL names the first.
  const [, database = '0'] = /\/(\d+)$/.exec(url) ?? [];
  const bus = await createRedisBus(subscriber, reader, names.bus(database), onProblem);
  // Destroyed, since its XREAD may take another second.
  opened.defer(() => tail.destroy());
  opened.defer(drained);
  opened.defer(places.close);
  const ping = () => subscriber.run((redis) => redis.ping());
  opened.use(inBackground(PING_EVERY_MS, ping, onProblem));
  opened.use(inBackground(INSPECT_EVERY_MS, writer.inspectServer, onProblem));
  opened.use(inBackground(CLEANUP_EVERY_MS, log.trim, onProblem));
  const parts = opened.move();

  return {
    log,
    places,
    bus,
    keys: keyStore(writer, reader),
    quarantine: quarantine(writer, reader),
    async check() {
      // Both connections are checked: after a failover one may have found the new primary before the other.
      const write = writer.write((redis) => redis.set(names.checked, '1'));
      await Promise.all([write, reader.run((redis) => redis.ping())]);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Expiry uses the server's clock, so that a wrong clock of an instance frees no key early. */
const keyStore = ({ write }: Writer, reader: RedisConnection): KeyStore => ({
  async claim(key, value, ttlMs) {
    const options = { condition: 'NX', GET: true, expiration: expiration(ttlMs) } as const;
    return (await write((redis) => redis.set(names.fact(key), value, options))) ?? undefined;
  },
  put: (key, value, ttlMs) =>
    write((redis) => redis.set(names.fact(key), value, { expiration: expiration(ttlMs) })),
  async get(keys) {
    if (keys.length === 0) return [];
    const values = await reader.run((redis) => redis.mGet(keys.map(names.fact)));
    return values.map((value) => value ?? undefined);
  },
  delete: (key) => write((redis) => redis.del(names.fact(key))),
});

const expiration = (ttlMs: number) => ({ type: 'PX', value: Math.ceil(ttlMs) }) as const;

const quarantine = ({ write }: Writer, reader: RedisConnection): Quarantine => ({
  add({ receivedAt, reason, body }) {
    const fields = { receivedAt: String(receivedAt), reason, body };
    const options = { TRIM: { strategy: 'MAXLEN', threshold: QUARANTINE_MAX_ENTRIES } } as const;
    return write((redis) => redis.xAdd(names.quarantine, '*', fields, options));
  },
  async list(limit) {
    const options = { COUNT: limit };
    const entries = await reader.run((redis) => redis.xRange(names.quarantine, '-', '+', options));
    return (entries ?? []).map(({ id, message: { receivedAt, reason = '', body = '' } }) => ({
      id,
      receivedAt: Number(receivedAt),
      reason,
      body,
    }));
  },
  remove: (id) => write((redis) => redis.xDel(names.quarantine, id)),
  count: () => reader.run((redis) => redis.xLen(names.quarantine)),
});

/** More lists than a client is in at a time. Past it the client's places are removed, and found again. */
const MAX_LISTS = 16;

/** ARGV: how long to keep; then client, list and page of each change. */
const writePlaces = `
  for at = 2, #ARGV, 3 do
    local key = '${PREFIX}place:' .. ARGV[at]
    local page = tonumber(ARGV[at + 2])
    if page == ${GONE} then
      redis.call('HDEL', key, ARGV[at + 1])
    else
      if redis.call('HLEN', key) >= ${MAX_LISTS} then redis.call('DEL', key) end
      if page ~= ${NO_PAGE} then redis.call('HSET', key, ARGV[at + 1], page)
      else redis.call('HSETNX', key, ARGV[at + 1], page) end
      redis.call('PEXPIRE', key, ARGV[1])
    end
  end
`;

const placeEngine = ({ run }: RedisConnection): PlaceEngine => ({
  async write(changes) {
    const args = changes.flatMap(({ clientId, list, page }) => [clientId, list, page]);
    await runScript(run, writePlaces, [], [PLACES_KEPT_MS, ...args]);
  },
  async read(clientId) {
    const pages = await run((redis) => redis.hGetAll(`${PREFIX}place:${clientId}`));
    return Object.entries(pages).map(([list, page]) => ({ list, page: Number(page) }));
  },
});
