import type { KeyStore } from '../store.ts';
import type { Connection } from './connection.ts';
import { names } from './names.ts';
import type { Writer } from './writer.ts';

/** Ends are kept by the server's clock: an instance whose own jumps frees nothing early. */
export const createRedisKeys = ({ write }: Writer, reader: Connection): KeyStore => ({
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
