import { inBackground } from '../background.ts';
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
import { names } from './scripts.ts';
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
  // Messages are for all databases of a server. Without a number the URL names the first.
  const [, database = '0'] = /\/(\d+)$/.exec(url) ?? [];
  const bus = await createRedisBus(subscriber, reader, names.bus(database), onProblem);
  // Destroyed, since its XREAD may take another second.
  opened.defer(() => tail.destroy());
  opened.defer(drained);
  const ping = () => subscriber.run((redis) => redis.ping());
  opened.use(inBackground(PING_EVERY_MS, ping, onProblem));
  opened.use(inBackground(INSPECT_EVERY_MS, writer.inspectServer, onProblem));
  opened.use(inBackground(CLEANUP_EVERY_MS, log.trim, onProblem));
  const parts = opened.move();
  const keys = keyStore(writer, reader);

  return {
    log,
    bus,
    keys,
    quarantine: quarantine(writer, reader),
    async check() {
      // Both connections are checked: after a failover one may have found the new primary before the other.
      await Promise.all([keys.put({ checked: '' }, CLEANUP_EVERY_MS), keys.get(['checked'])]);
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
  put(values, ttlMs, isHint) {
    const options = { expiration: expiration(ttlMs) };
    // `write` waits for a replica, and the webhooks behind it would wait too.
    return (isHint ? reader.run : write)((redis) =>
      Promise.all(
        Object.entries(values).map(([key, value]) => redis.set(names.fact(key), value, options)),
      ),
    );
  },
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
