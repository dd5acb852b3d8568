import { StoreUnavailable } from '../errors.ts';
import { mendAppendOnlyFile } from './append-only-file.ts';
import type { Connection } from './connection.ts';
import { inspect } from './server.ts';

const WAIT_MS = 1_000;

export interface Writer {
  /** Resolves once the write is where a crash of the primary can't take it. */
  readonly write: <Reply>(args: readonly string[]) => Promise<Reply>;
  /** Whether replicas have been seen. Once seen they are required: a primary cut off from them must not accept. */
  readonly replicated: boolean;
  /** Looks whether replicas were added. */
  look(): Promise<void>;
}

/** Has a connection to itself: WAIT holds up whatever is behind it. */
export async function openWriter(
  connection: Connection,
  onProblem: (message: string) => void,
  onMoved: () => void,
): Promise<Writer> {
  let replicated = false;
  let known: string | undefined;
  let trusted: Promise<void> | undefined;

  /** Perhaps it was cut off, and one of its replicas is the primary now. */
  function wrongServer(reason: string) {
    connection.renew(reason);
    return new StoreUnavailable(reason);
  }

  async function look() {
    const server = await inspect(connection);
    if (!server.isPrimary) throw wrongServer('Redis failed: it is a read-only replica (READONLY)');
    replicated ||= server.replicas > 0;
    if (known !== undefined && known !== server.runId) onMoved();
    known = server.runId;
    return server;
  }

  async function trust() {
    const { runId, appendOnlyFile } = await look();
    if (appendOnlyFile) return mendAppendOnlyFile(connection, runId, onProblem);
    if (replicated) return undefined;
    return onProblem(
      'Redis has neither an append-only file nor a replica: if it crashes, events are lost',
    );
  }

  /** Nothing is written before the server has been looked at: behind a new socket may be another one. */
  async function trusting() {
    trusted ??= trust();
    try {
      await trusted;
    } catch (error) {
      trusted = undefined;
      throw error;
    }
  }

  await trusting();
  connection.onReady(() => (trusted = undefined));

  return {
    get replicated() {
      return replicated;
    },
    look: async () => void (await look()),
    async write<Reply>(args: readonly string[]) {
      await trusting();
      if (!replicated) return connection.command<Reply>(args);
      const [reply, confirmed] = await Promise.all([
        connection.command<Reply>(args),
        connection.command<number>(['WAIT', '1', String(WAIT_MS)]),
      ]);
      if (confirmed < 1) {
        throw wrongServer(`no Redis replica confirmed the write within ${WAIT_MS} ms`);
      }
      return reply;
    },
  };
}
