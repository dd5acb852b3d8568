import { QUARANTINE_MAX_ENTRIES, type Store, type StoreOptions, inBackground } from '../store.ts';
import { createRedisBus } from './bus.ts';
import { createConnection } from './connection.ts';
import { createRedisLog } from './event-log.ts';

/** Many instances, one log: Redis 7 or Valkey, with scripts for whatever must happen as one step. */
export async function openRedis(url: string, options: StoreOptions): Promise<Store> {
  const { retentionMs, onProblem = () => {} } = options;
  const connection = createConnection(url, onProblem);
  const log = createRedisLog(connection, retentionMs);
  const bus = createRedisBus(connection);
  await connection.open();
  // A dead socket and an added replica are noticed this soon.
  const inspections = inBackground(2_000, connection.inspectServer);
  const { run, runDurably } = connection;

  /** Expiry uses the server's clock, so that a wrong clock of an instance frees no key early. */
  const keys: Store['keys'] = {
    async claim(key, value, ttlMs) {
      const expiration = { type: 'PX', value: ttlMs } as const;
      const settings = { condition: 'NX', GET: true, expiration } as const;
      return (await runDurably((redis) => redis.set(keyOf(key), value, settings))) ?? undefined;
    },
    put: (values, ttlMs, isHint) =>
      // `runDurably` waits for a replica, and the webhooks behind it would wait too.
      (isHint ? run : runDurably)((redis) =>
        Promise.all(
          Object.entries(values).map(([key, value]) => redis.pSetEx(keyOf(key), ttlMs, value)),
        ),
      ),
    async get(names) {
      const values = await run((redis) => redis.mGet(names.map(keyOf)));
      return values.map((value) => value ?? undefined);
    },
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
        const entries = await run((redis) =>
          redis.xRange('quarantine', start, '+', { COUNT: limit }),
        );
        return (entries ?? []).map(({ id, message: { receivedAt, reason = '', body = '' } }) => ({
          id,
          receivedAt: Number(receivedAt),
          reason,
          body,
        }));
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
