import { QUARANTINE_MAX_ENTRIES, type Store, type StoreOptions, runEvery } from '../store.ts';
import { PREFIX, type RedisConnection, createConnection } from './connection.ts';
import { createRedisLog } from './event-log.ts';

/** Many instances, one log: Redis 7 or Valkey, with scripts for whatever must happen as one step. */
export async function openRedis(url: string, options: StoreOptions): Promise<Store> {
  const { retentionMs, onProblem = () => {} } = options;
  const connection = createConnection(url, onProblem);
  const log = createRedisLog(connection, retentionMs);
  const bus = createBus(connection);
  await connection.open();
  // A dead socket and an added replica are noticed this soon.
  const inspections = runEvery(2_000, connection.inspectServer);
  const { run, runDurably } = connection;

  /** Expiry uses the server's clock, so that a wrong clock of an instance frees no key early. */
  const keys: Store['keys'] = {
    claim(key, value, ttlMs) {
      const expiration = { type: 'PX', value: ttlMs } as const;
      const settings = { condition: 'NX', GET: true, expiration } as const;
      return runDurably((redis) => redis.set(keyOf(key), value, settings));
    },
    put: (values, ttlMs, hint) =>
      // `runDurably` waits for a replica, and the webhooks behind it would wait too.
      (hint ? run : runDurably)((redis) =>
        Promise.all(
          Object.entries(values).map(([key, value]) => redis.pSetEx(keyOf(key), ttlMs, value)),
        ),
      ),
    get: (names) => run((redis) => redis.mGet(names.map(keyOf))),
    async delete(key, value) {
      const args = { keys: [keyOf(key)], arguments: [value] };
      return (await runDurably((redis) => redis.eval(deleteScript, args))) === 1;
    },
  };

  return {
    log,
    bus,
    keys,
    quarantine: {
      add({ receivedAt, reason, body }) {
        const fields = { receivedAt: String(receivedAt), reason, body };
        const TRIM = { strategy: 'MAXLEN', threshold: QUARANTINE_MAX_ENTRIES } as const;
        return runDurably((redis) => redis.xAdd('quarantine', '*', fields, { TRIM }));
      },
      async list(limit, after) {
        const start = after === undefined ? '-' : `(${after}`;
        const rows = await run((redis) => redis.xRange('quarantine', start, '+', { COUNT: limit }));
        return (rows ?? []).map(({ id, message }) => {
          const { receivedAt, reason = '', body = '' } = message;
          return { id, receivedAt: Number(receivedAt), reason, body };
        });
      },
      remove: (id) => runDurably((redis) => redis.xDel('quarantine', id)),
      count: () => run((redis) => redis.xLen('quarantine')),
    },
    check: () => Promise.all([keys.put({ checked: '' }, 60_000), log.bounds()]),
    async [Symbol.asyncDispose]() {
      inspections[Symbol.dispose]();
      await connection.close();
    },
  };
}

const deleteScript =
  "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0";

const keyOf = (key: string) => `fact:${key}`;

/** Publish and subscribe with acknowledgements: the publisher waits for one from each receiver. */
function createBus(connection: RedisConnection): Store['bus'] {
  const channel = `${PREFIX}bus:${connection.database}`;
  const ownId: string = crypto.randomUUID();
  let [handle, onGap]: Partial<Parameters<Store['bus']['subscribe']>> = [];
  /** By the id of a message, called with each acknowledgement. */
  const acknowledge = new Map<number, () => void>();
  let lastId = 0;

  async function receive(text: string) {
    // Without a message, some of the sender's may have been lost.
    const { from, id, message }: { from: string; id: number; message?: string } = JSON.parse(text);
    // Redis counts this instance among the receivers.
    if (from === ownId) return acknowledge.get(id)?.();
    await (message === undefined ? onGap?.() : handle?.(message));
    // A lost acknowledgement only makes the sender wait a little longer.
    await connection.run((redis) => redis.publish(`${channel}:${from}`, `${id}`)).catch(() => {});
  }

  const send = (id: number, message?: string) =>
    connection.run((redis) => redis.publish(channel, JSON.stringify({ from: ownId, id, message })));

  connection.subscribe(channel, (text) =>
    receive(text).catch(() => connection.onProblem('a message to all instances was not handled')),
  );
  connection.subscribe(`${channel}:${ownId}`, (id) => acknowledge.get(Number(id))?.());

  connection.onGap(() => {
    onGap?.();
    // If this fails, the next session sends it again.
    send(0).catch(() => {});
  });

  return {
    async publish(message) {
      const id = ++lastId;
      const { promise: over, resolve } = Promise.withResolvers<void>();
      // Also for a server that hangs, which rejects the message much later.
      const timer = setTimeout(resolve, 500);
      /** Below zero while acknowledgements come before Redis has counted the receivers. */
      let missing = 0;
      const count = (receivers: number) => {
        missing += receivers;
        if (missing === 0) resolve();
      };
      acknowledge.set(id, () => count(-1));
      // If this fails, the timer ends the wait, and the next session makes the others drop their caches.
      send(id, message).then(count, () => undefined);
      await over;
      clearTimeout(timer);
      acknowledge.delete(id);
    },
    // Not PING: it is answered while writes are paused, and messages are not.
    check: () => connection.run((redis) => redis.publish(`${channel}:${ownId}`, '0')),
    subscribe(...handlers) {
      [handle, onGap] = handlers;
    },
  };
}
