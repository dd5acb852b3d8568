import type { Quarantine } from '../store.ts';
import { QUARANTINE_MAX_ENTRIES } from '../store.ts';
import type { Connection } from './connection.ts';
import { names } from './names.ts';
import type { Writer } from './writer.ts';

type Entry = readonly [id: string, fields: readonly string[]];

export const createRedisQuarantine = ({ write }: Writer, reader: Connection): Quarantine => ({
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
