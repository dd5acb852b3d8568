import { setTimeout as pause } from 'node:timers/promises';

import { DisconnectsClientError } from 'redis';

import { StoreUnavailable } from '../errors.ts';
import { createBareClient, locatorOf } from './address.ts';

const DEADLINE_MS = 3_000;
const LONGEST_PAUSE_MS = 2_000;
const REFUSED_MS = 2_000;
const SILENT_MS = 10_000;

type Client = ReturnType<typeof createBareClient>;
export type Connection = Awaited<ReturnType<typeof connect>>;
export type Command<Reply> = (redis: Client) => Promise<Reply>;
/** Rejects with `StoreUnavailable`. Never sent again by itself: what came of it is not known then. */
export type Run = <Reply>(command: Command<Reply>, deadlineMs?: number) => Promise<Reply>;

/** Full jitter: instances that lost the same server do not come back as one. */
const pauseBefore = (retry: number) =>
  Math.random() * Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retry, 10));

/**
 * One socket that comes back by itself; commands fail at once while it is away. Each socket has a client of
 * its own: one that node-redis reconnects never goes to another address than its first.
 */
export async function connect(url: string, onProblem: (message: string) => void = () => {}) {
  const locate = locatorOf(url);
  const closing = new AbortController();
  const preparations: ((run: Run) => Promise<void>)[] = [];
  const readyListeners: (() => void)[] = [];
  let client: Client | undefined;
  let lastFailure = 'no answer';

  const outOfReach = () => new StoreUnavailable(`Redis is out of reach: ${lastFailure}`);

  function discard(lost: Client | undefined, reason: string) {
    if (!lost || lost !== client) return;
    client = undefined;
    lastFailure = reason;
    // Its pending commands are rejected by its own error first, which says more.
    queueMicrotask(() => lost.destroy());
    void connectWithRetry();
  }

  async function runOn<Reply>(used: Client, command: Command<Reply>, deadlineMs = DEADLINE_MS) {
    try {
      return await within(command(used), deadlineMs);
    } catch (error) {
      // Another command's failure closed the socket, and that one knows why.
      if (used !== client && error instanceof DisconnectsClientError) throw outOfReach();
      const failure = unavailable(error);
      // A server that hangs or was demoted keeps its socket.
      if (failure === error || NOT_PRIMARY.has(codeOf(error)) || !used.isReady)
        discard(used, failure.message);
      throw failure;
    }
  }

  async function connectOnce() {
    // Ours is the deadline of all that a connection takes.
    const next = createBareClient(await locate(), { connectTimeout: 2 * DEADLINE_MS });
    next.on('error', (error: unknown) => {
      if (next !== client) return;
      onProblem(`Redis is out of reach: ${codeOf(error)}`);
      discard(next, codeOf(error));
    });
    const run: Run = async (command) => {
      closing.signal.throwIfAborted();
      return runOn(next, command);
    };
    try {
      await within(next.connect(), DEADLINE_MS);
      for (const prepare of preparations) await prepare(run);
      closing.signal.throwIfAborted();
    } catch (error) {
      next.destroy();
      throw error;
    }
    client = next;
    for (const listener of readyListeners) listener();
  }

  async function connectWithRetry(isFinal: (error: unknown) => boolean = () => false) {
    for (let retry = 0; ; retry += 1) {
      await pause(pauseBefore(retry), undefined, closing).catch(() => {});
      if (closing.signal.aborted) return;
      try {
        return await connectOnce();
      } catch (error) {
        lastFailure = error instanceof StoreUnavailable ? error.message : codeOf(error);
        if (isFinal(error)) {
          throw new StoreUnavailable(
            `Redis, as REDIS_URL names it, cannot be reached: ${lastFailure}`,
          );
        }
      }
    }
  }

  // A refused connection is reported soon. Silence is given more time: machines are busy while everything starts.
  const began = performance.now();
  await connectWithRetry((error) => {
    const limitMs = error instanceof StoreUnavailable ? SILENT_MS : REFUSED_MS;
    return performance.now() - began > limitMs;
  });

  const run: Run = async (command, deadlineMs) => {
    if (!client) throw outOfReach();
    return runOn(client, command, deadlineMs);
  };

  return {
    run,
    /** Done now, and on every later socket before it is used. */
    async prepare(preparation: (run: Run) => Promise<void>): Promise<void> {
      preparations.push(preparation);
      if (client) await preparation(run);
    },
    /** Called when commands can be sent again. */
    onReady: (listener: () => void) => void readyListeners.push(listener),
    /** For a server that turned out to be the wrong one: a new socket may lead to another. */
    reconnect: (reason: string) => discard(client, reason),
    /** Lets what was asked for end first. */
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort();
      const last = client;
      if (last?.isOpen) await within(last.close(), DEADLINE_MS).catch(() => last.destroy());
    },
    /** Rejects what was asked for. */
    destroy(): void {
      closing.abort();
      client?.destroy();
    },
  };
}

/** A server that hangs keeps its socket, and node-redis' own timeout ends with the writing of a command. */
async function within<Result>(promise: Promise<Result>, deadlineMs: number) {
  const late = Promise.withResolvers<never>();
  const error = new StoreUnavailable(`Redis did not answer within ${deadlineMs} ms`);
  const timer = setTimeout(() => late.reject(error), deadlineMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const REASONS = new Map([
  ['LOADING', 'it is still loading its data'],
  ['READONLY', 'it is a read-only replica'],
  ['MASTERDOWN', 'it is a replica without a primary'],
  ['OOM', 'it is out of memory: raise maxmemory'],
  ['MISCONF', 'it cannot write to its disk'],
  ['NOREPLICAS', 'it has too few replicas'],
  ['NOAUTH', 'it wants a password'],
  ['WRONGPASS', 'it refuses the user name or password'],
  ['NOPERM', 'the user may not run this command'],
  ['MOVED', 'it is a cluster, and one server is wanted'],
]);

/** It was demoted, or cut off: the primary may be another server by now. */
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'NOREPLICAS']);

/** Redis begins its errors with a code in capitals; a socket's error has one, too. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{2,}(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}

/** Only codes: a message may quote the command, and with it what should not be logged. */
function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const reason = REASONS.get(code);
  return new StoreUnavailable(`Redis failed: ${reason ? `${reason} (${code})` : code}`, {
    cause: error,
  });
}
