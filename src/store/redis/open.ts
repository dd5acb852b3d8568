import { inBackground } from '../background.ts';
import { createPlaces } from '../places.ts';
import { QUARANTINE_MAX_ENTRIES } from '../store.ts';
import type { KeyStore, Quarantine, StoreSettings } from '../store.ts';
import { addressOf } from './address.ts';
import type { Address } from './address.ts';
import { createRedisBus } from './bus.ts';
import { connect } from './connection.ts';
import type { Connection } from './connection.ts';
import { createRedisLog } from './event-log.ts';
import { createTail, openLogView } from './log-view.ts';
import { createRedisPlaces } from './places.ts';
import { names } from './scripts.ts';
import { openWriter } from './writer.ts';
import type { Writer } from './writer.ts';

const CLEANUP_EVERY_MS = 60_000;
/** How soon a replica that was added is waited for. */
const INSPECT_EVERY_MS = 10_000;

async function openParts(
  connections: readonly [Connection, ...Connection[]],
  { database }: Address,
  settings: StoreSettings,
) {
  const { retentionMs, clock, onProblem = () => {} } = settings;
  const [writing, reader = writing, tailing = writing, subscriber = writing] = connections;
  // All connections must be to the server that is written to: a former primary may still answer reads.
  const writer = await openWriter(writing, onProblem, () => {
    for (const connection of connections)
      if (connection !== writing) connection.reconnect('another server took over');
  });
  const view = await openLogView(reader.command);
  const { log, drained } = createRedisLog({ view, writer, reader, retentionMs, clock });
  const places = createPlaces(createRedisPlaces(reader));
  const bus = await createRedisBus(subscriber, reader, database, onProblem);

  const background = new AsyncDisposableStack();
  background.use(createTail(tailing, view));
  background.use(inBackground(INSPECT_EVERY_MS, () => writer.inspectServer(), onProblem));
  background.use(inBackground(CLEANUP_EVERY_MS, () => log.trim(), onProblem));

  return {
    log,
    places,
    bus,
    keys: createRedisKeys(writer, reader),
    quarantine: createRedisQuarantine(writer, reader),
    async check() {
      // Both: after a failover one connection may have found the new primary before the other.
      await Promise.all([writer.write(['SET', names.checked, '1']), reader.command(['PING'])]);
    },
    async [Symbol.asyncDispose]() {
      await background.disposeAsync();
      await places.flush().catch(() => undefined);
      await drained();
      await Promise.all([...connections].map((connection) => connection.close()));
    },
  };
}

/** Many instances, one log: Redis 7 or Valkey, with scripts for whatever must happen as one step. */
export async function openRedis(url: string, settings: StoreSettings) {
  const address = addressOf(url);
  const writing = await connect(address, settings.onProblem);
  // WAIT and XREAD hold up their connection, and a subscriber's is for messages only.
  const others = await Promise.all([connect(address), connect(address), connect(address)]);
  try {
    return await openParts([writing, ...others], address, settings);
  } catch (error) {
    await Promise.all([writing, ...others].map((connection) => connection.close()));
    throw error;
  }
}

/** Ends are kept by the server's clock: an instance whose own jumps frees nothing early. */
const createRedisKeys = ({ write }: Writer, reader: Connection): KeyStore => ({
  async claim(key, value, ttlMs) {
    const command = ['SET', names.fact(key), value, 'NX', 'GET', 'PX', String(Math.ceil(ttlMs))];
    return (await write<string | null>(command)) ?? undefined;
  },
  async put(key, value, ttlMs) {
    await write(['SET', names.fact(key), value, 'PX', String(Math.ceil(ttlMs))]);
  },
  async get(keys) {
    if (keys.length === 0) return [];
    const values = await reader.command<(string | null)[]>(['MGET', ...keys.map(names.fact)]);
    return values.map((value) => value ?? undefined);
  },
  async delete(key) {
    await write(['DEL', names.fact(key)]);
  },
});

type Entry = readonly [id: string, fields: readonly string[]];

const createRedisQuarantine = ({ write }: Writer, reader: Connection): Quarantine => ({
  async add({ receivedAt, reason, body }) {
    const bound = ['MAXLEN', String(QUARANTINE_MAX_ENTRIES)];
    const fields = ['receivedAt', String(receivedAt), 'reason', reason, 'body', body];
    await write(['XADD', names.quarantine, ...bound, '*', ...fields]);
  },
  async list(limit) {
    const range = ['XRANGE', names.quarantine, '-', '+', 'COUNT', String(limit)];
    const entries = await reader.command<Entry[]>(range);
    return entries.map(([id, fields]) => ({
      id,
      receivedAt: Number(fields[1]),
      reason: fields[3] ?? '',
      body: fields[5] ?? '',
    }));
  },
  async remove(id) {
    await write(['XDEL', names.quarantine, id]);
  },
  count: () => reader.command<number>(['XLEN', names.quarantine]),
});
