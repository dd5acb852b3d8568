import { setTimeout as pause } from 'node:timers/promises';

import { DisconnectsClientError } from 'redis';

import { StoreUnavailable } from '../errors.ts';
import { type Address, createBareClient, within } from './address.ts';

const DEADLINE_MS = 3_000;
const LONGEST_PAUSE_MS = 2_000;
const REFUSED_MS = 2_000;
const SILENT_MS = 10_000;

export type RedisConnection = Awaited<ReturnType<typeof connect>>;
type RedisClient = ReturnType<typeof createBareClient>;

/** Full jitter: instances that lost the same server do not reconnect at the same time. */
const pauseBefore = (retry: number) =>
  Math.random() * Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retry, 10));

/**
 * A socket that reconnects by itself; commands fail immediately while it is disconnected. Each socket has its own
 * client, since a client never changes its address.
 */
export async function connect(
  { locate }: Address,
  onProblem: (message: string) => void = () => {},
) {
  const closing = new AbortController();
  const subscriptions = new Map<string, (message: string) => void>();
  const readyListeners: (() => void)[] = [];
  let client: RedisClient | undefined;
  let lastFailure = 'no answer';

  const outOfReach = () => new StoreUnavailable(`Redis is out of reach: ${lastFailure}`);

  function discard(lost: RedisClient | undefined, reason: string) {
    if (!lost || lost !== client) return;
    client = undefined;
    lastFailure = reason;
    // Its pending commands are rejected by its own error first, which says more.
    queueMicrotask(() => lost.destroy());
    void connectWithRetry(pauseBefore(0));
  }

  async function connectOnce() {
    // Our own deadline covers the whole connection.
    const next = createBareClient(await locate(), 2 * DEADLINE_MS);
    next.on('error', (error: unknown) => {
      if (next !== client) return;
      onProblem(`Redis is out of reach: ${codeOf(error)}`);
      discard(next, codeOf(error));
    });
    try {
      await within(next.connect(), DEADLINE_MS);
      for (const [channel, listener] of subscriptions) {
        await within(next.subscribe(channel, listener), DEADLINE_MS);
      }
      closing.signal.throwIfAborted();
    } catch (error) {
      next.destroy();
      throw error;
    }
    client = next;
    for (const listener of readyListeners) listener();
  }

  async function connectWithRetry(
    pauseMs: number,
    isFinal: (error: unknown) => boolean = () => false,
  ) {
    for (let retry = 1, ms = pauseMs; ; retry += 1, ms = pauseBefore(retry)) {
      await pause(ms, undefined, closing).catch(() => {});
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
  await connectWithRetry(0, (error) => {
    const limitMs = error instanceof StoreUnavailable ? SILENT_MS : REFUSED_MS;
    return performance.now() - began > limitMs;
  });

  return {
    /** Rejects with `StoreUnavailable`. A command is never sent again, since its outcome is then unknown. */
    async command<Reply>(args: readonly string[], deadlineMs = DEADLINE_MS): Promise<Reply> {
      const used = client;
      if (!used) throw outOfReach();
      try {
        return await within(used.sendCommand<Reply>(args), deadlineMs);
      } catch (error) {
        // Another command's failure closed the socket, and has the cause.
        if (used !== client && error instanceof DisconnectsClientError) throw outOfReach();
        const failure = unavailable(error);
        // A server that hangs or was demoted keeps its socket open.
        if (failure === error || NOT_PRIMARY.has(codeOf(error)) || !used.isReady)
          discard(used, failure.message);
        throw failure;
      }
    },
    async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
      subscriptions.set(channel, listener);
      if (client) await within(client.subscribe(channel, listener), DEADLINE_MS);
    },
    /** Called after every reconnect too, once subscriptions are restored. */
    onReady: (listener: () => void) => void readyListeners.push(listener),
    /** For a wrong server: a new socket may lead to another one. */
    reconnect: (reason: string) => discard(client, reason),
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
