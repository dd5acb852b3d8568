import { StoreUnavailable } from '../errors.ts';
import type { Connection } from './connection.ts';

const WAIT_MS = 1_000;

export interface Writer {
  /** Resolves once the write is where a crash of the primary can't take it. */
  readonly write: <Reply>(args: readonly string[]) => Promise<Reply>;
  /** Whether replicas have been seen. Once seen they are required: a primary cut off from them must not accept. */
  readonly replicated: boolean;
  sawReplicas(count: number): void;
}

/** Has a connection to itself: WAIT holds up whatever is behind it. */
export function createWriter(connection: Connection): Writer {
  let replicated = false;
  return {
    get replicated() {
      return replicated;
    },
    sawReplicas(count) {
      replicated ||= count > 0;
    },
    async write<Reply>(args: readonly string[]) {
      if (!replicated) return connection.command<Reply>(args);
      const [reply, confirmed] = await Promise.all([
        connection.command<Reply>(args),
        connection.command<number>(['WAIT', '1', String(WAIT_MS)]),
      ]);
      if (confirmed < 1) {
        throw new StoreUnavailable(`no Redis replica confirmed the write within ${WAIT_MS} ms`);
      }
      return reply;
    },
  };
}
