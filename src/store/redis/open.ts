import { inBackground } from '../background.ts';
import { GONE, NO_PAGE, PLACES_KEPT_MS, type PlaceEngine, createPlaces } from '../places.ts';
import {
  type KeyStore,
  QUARANTINE_MAX_ENTRIES,
  type Quarantine,
  type Store,
  type StoreSettings,
} from '../store.ts';
import { addressOf } from './address.ts';
import { createRedisBus } from './bus.ts';
import { type RedisConnection, connect } from './connection.ts';
import { openRedisLog } from './event-log.ts';
import { PREFIX, names, runScript } from './scripts.ts';
import { type Writer, openWriter } from './writer.ts';

const CLEANUP_EVERY_MS = 60_000;
/** How soon an added replica is noticed. */
const INSPECT_EVERY_MS = 10_000;

/** Many instances, one log: Redis 7 or Valkey, with scripts for whatever must happen as one step. */
export async function openRedis(url: string, settings: StoreSettings): Promise<Store> {
  const { retentionMs, clock, onProblem = () => {} } = settings;
  const address = addressOf(url);
  await using opened = new AsyncDisposableStack();
  const open = async (onLost?: (message: string) => void) =>
    opened.use(await connect(address, onLost));
  const writing = await open(onProblem);
  // WAIT and XREAD block their connection, and a subscriber's takes no other commands.
  const [reader, tail, subscriber] = await Promise.all([open(), open(), open()]);
  // All connections must lead to the primary: a former primary may still answer reads.
  const writer = await openWriter(writing, onProblem, () => {
    for (const connection of [reader, tail, subscriber])
      connection.reconnect('another server took over');
  });
  const { log, drained } = await openRedisLog({ writer, reader, tail, retentionMs, clock });
  const places = createPlaces(placeEngine(reader));
  const bus = await createRedisBus(subscriber, reader, address.database, onProblem);
  // Destroyed, since its XREAD may take another second.
  opened.defer(() => tail.destroy());
  opened.defer(drained);
  opened.defer(places.close);
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
      await Promise.all([writer.write(['SET', names.checked, '1']), reader.command(['PING'])]);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Expiry uses the server's clock, so that a wrong clock of an instance frees no key early. */
const keyStore = ({ write }: Writer, reader: RedisConnection): KeyStore => ({
  async claim(key, value, ttlMs) {
    const command = ['SET', names.fact(key), value, 'NX', 'GET', 'PX', String(Math.ceil(ttlMs))];
    return (await write<string | null>(command)) ?? undefined;
  },
  put: (key, value, ttlMs) => write(['SET', names.fact(key), value, 'PX', `${Math.ceil(ttlMs)}`]),
  async get(keys) {
    if (keys.length === 0) return [];
    const values = await reader.command<(string | null)[]>(['MGET', ...keys.map(names.fact)]);
    return values.map((value) => value ?? undefined);
  },
  delete: (key) => write(['DEL', names.fact(key)]),
});

type StreamEntry = readonly [id: string, fields: readonly string[]];

const quarantine = ({ write }: Writer, reader: RedisConnection): Quarantine => ({
  add({ receivedAt, reason, body }) {
    const bound = ['MAXLEN', String(QUARANTINE_MAX_ENTRIES)];
    const fields = ['receivedAt', String(receivedAt), 'reason', reason, 'body', body];
    return write(['XADD', names.quarantine, ...bound, '*', ...fields]);
  },
  async list(limit) {
    const range = ['XRANGE', names.quarantine, '-', '+', 'COUNT', String(limit)];
    const entries = await reader.command<StreamEntry[]>(range);
    return entries.map(([id, [, receivedAt, , reason = '', , body = '']]) => ({
      id,
      receivedAt: Number(receivedAt),
      reason,
      body,
    }));
  },
  remove: (id) => write(['XDEL', names.quarantine, id]),
  count: () => reader.command<number>(['XLEN', names.quarantine]),
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

const placeEngine = ({ command }: RedisConnection): PlaceEngine => ({
  async write(changes) {
    const args = changes.flatMap(({ clientId, list, page }) => [clientId, list, page]);
    await runScript(command, writePlaces, [], [PLACES_KEPT_MS, ...args]);
  },
  async read(clientId) {
    // As a script, since HGETALL alone is answered as a map by some protocol versions.
    const script = `return redis.call('HGETALL', KEYS[1])`;
    const pairs = await runScript<string[]>(command, script, [`${PREFIX}place:${clientId}`], []);
    return pairs.flatMap((list, at) =>
      at % 2 === 0 ? [{ list, page: Number(pairs[at + 1]) }] : [],
    );
  },
});
