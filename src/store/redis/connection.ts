import { setTimeout as pause } from 'node:timers/promises';

import { DisconnectsClientError } from 'redis';

import { StoreUnavailable } from '../errors.ts';
import { createBareClient, locatorOf } from './address.ts';

const DEADLINE_MS = 3_000;
const MAX_PAUSE_MS = 2_000;
const REFUSED_MS = 2_000;
const SILENT_MS = 10_000;

type RedisClient = ReturnType<typeof createBareClient>;
export type RedisConnection = Awaited<ReturnType<typeof connect>>;
export type Command<Reply> = (redis: RedisClient) => Promise<Reply>;
/** Rejects with `StoreUnavailable`. A command is never sent again, since its outcome is then unknown. */
export type Run = <Reply>(command: Command<Reply>, deadlineMs?: number) => Promise<Reply>;

/** Full jitter: instances that lost the same server do not reconnect at the same time. */
const pauseBefore = (retry: number) =>
  Math.random() * Math.min(MAX_PAUSE_MS, 50 * 2 ** Math.min(retry, 10));

/**
 * A socket that reconnects by itself; commands fail immediately while it is disconnected. Each socket has its own
 * client, since a client that node-redis reconnects never changes its address.
 */
export async function connect(url: string, onProblem: (message: string) => void = () => {}) {
  const locate = locatorOf(url);
  const closing = new AbortController();
  const preparations: ((run: Run) => Promise<void>)[] = [];
  const readyListeners: (() => void)[] = [];
  let client: RedisClient | undefined;
  /** Incremented by `reconnect`. A connection that began before is discarded. */
  let generation = 0;
  let lastFailure = 'no answer';

  const outOfReach = () => new StoreUnavailable(`Redis is out of reach: ${lastFailure}`);

  function discard(lost: RedisClient | undefined, reason: string) {
    if (!lost || lost !== client) return;
    client = undefined;
    lastFailure = reason;
    // Its pending commands are rejected by its own error first, which says more.
    queueMicrotask(() => lost.destroy());
    void connectWithRetry();
  }

  async function runOn<Reply>(
    used: RedisClient,
    command: Command<Reply>,
    deadlineMs = DEADLINE_MS,
  ) {
    try {
      return await within(command(used), deadlineMs);
    } catch (error) {
      // Another command's failure closed the socket, and has the cause.
      if (used !== client && error instanceof DisconnectsClientError) throw outOfReach();
      const failure = unavailable(error);
      // A server that hangs or was demoted keeps its socket open.
      if (failure === error || NOT_PRIMARY.has(codeOf(error)) || !used.isReady)
        discard(used, failure.message);
      throw failure;
    }
  }

  async function connectOnce() {
    const begunIn = generation;
    // Our own deadline covers the whole connection.
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
    const connecting = next.connect();
    try {
      await within(connecting, DEADLINE_MS);
      for (const prepare of preparations) await prepare(run);
      closing.signal.throwIfAborted();
      if (begunIn !== generation) throw outOfReach();
    } catch (error) {
      next.destroy();
      // A socket that is opened after all would stay open.
      connecting.then(
        () => next.destroy(),
        () => {},
      );
      throw error;
    }
    client = next;
    for (const listener of readyListeners) listener();
  }

  async function connectWithRetry(isStart = false) {
    const began = performance.now();
    for (let retry = 0; ; retry += 1) {
      await pause(pauseBefore(retry), undefined, closing).catch(() => {});
      if (closing.signal.aborted) return;
      try {
        return await connectOnce();
      } catch (error) {
        const isSilent = error instanceof StoreUnavailable;
        lastFailure = isSilent ? error.message : codeOf(error);
        // A refusal is reported soon. Silence is given more time: machines are busy while everything starts.
        if (isStart && performance.now() - began > (isSilent ? SILENT_MS : REFUSED_MS))
          throw new StoreUnavailable(
            `Redis, as REDIS_URL names it, cannot be reached: ${lastFailure}`,
          );
      }
    }
  }
  await connectWithRetry(true);

  const run: Run = async (command, deadlineMs) => {
    if (!client) throw outOfReach();
    return runOn(client, command, deadlineMs);
  };

  return {
    run,
    /** Runs now, and on every later socket before it is used. */
    async prepare(preparation: (run: Run) => Promise<void>): Promise<void> {
      preparations.push(preparation);
      if (client) await preparation(run);
    },
    /** Called when commands can be sent again. */
    onReady: (listener: () => void) => void readyListeners.push(listener),
    /** For a wrong server: a new socket may lead to another one. */
    reconnect(reason: string): void {
      generation += 1;
      discard(client, reason);
    },
    /** Waits for pending commands first. */
    async [Symbol.asyncDispose](): Promise<void> {
      closing.abort();
      const last = client;
      if (last?.isOpen) await within(last.close(), DEADLINE_MS).catch(() => last.destroy());
    },
    /** Rejects pending commands. */
    destroy(): void {
      closing.abort();
      client?.destroy();
    },
  };
}

/** A server that hangs keeps its socket open, and node-redis' timeout covers only the writing of a command. */
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

/** The server was demoted or is cut off: the primary may be another one by now. */
const NOT_PRIMARY = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'NOREPLICAS']);

/** Redis begins its errors with a code in capitals; a socket's error has one, too. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return /^[A-Z]{2,}(?= )/.exec(error.message)?.[0] ?? error.constructor.name;
}

/** Only codes are logged: a message may quote the command. */
function unavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const reason = REASONS.get(code);
  return new StoreUnavailable(`Redis failed: ${reason ? `${reason} (${code})` : code}`, {
    cause: error,
  });
}
