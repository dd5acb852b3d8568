import { createClient } from 'redis';
import { StoreUnavailable } from '../errors.ts';
import { codeOf, unavailable } from './failure.ts';

const DEADLINE_MS = 3_000;
const LONGEST_PAUSE_MS = 2_000;

export interface Connection {
  /** Rejects with `StoreUnavailable`. Never sent again by itself: what came of it is not known then. */
  readonly command: <Reply>(args: readonly string[], deadlineMs?: number) => Promise<Reply>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Also after every loss of the connection, subscriptions restored. */
  onReady(listener: () => void): void;
  /** Lets what was asked for end first. */
  close(): Promise<void>;
  /** Rejects what was asked for. */
  drop(): void;
}

/** Full jitter: instances that lost the same server do not come back as one. */
const pauseBefore = (retry: number) =>
  Math.random() * Math.min(LONGEST_PAUSE_MS, 50 * 2 ** Math.min(retry, 10));

function clientFor(url: string) {
  try {
    return createClient({
      url,
      disableOfflineQueue: true,
      commandsQueueMaxLength: 20_000,
      disableClientInfo: true,
      maintNotifications: 'disabled',
      socket: { connectTimeout: DEADLINE_MS, reconnectStrategy: pauseBefore },
    });
  } catch {
    throw new StoreUnavailable('REDIS_URL must be a redis:// or rediss:// URL');
  }
}

async function within<Result>(promise: Promise<Result>, deadlineMs: number): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const error = new StoreUnavailable(`Redis did not answer within ${deadlineMs} ms`);
  const timer = setTimeout(() => late.reject(error), deadlineMs);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One socket that comes back by itself; commands fail at once while it is away. */
export async function connect(
  url: string,
  onProblem: (message: string) => void = () => {},
): Promise<Connection> {
  const client = clientFor(url);
  let lost = false;
  let refusal = 'no answer';
  client.on('error', (error: unknown) => {
    refusal = codeOf(error);
    if (!lost) onProblem(`Redis is out of reach: ${refusal}`);
    lost = true;
  });
  client.on('ready', () => (lost = false));

  /** A server that hangs or was demoted keeps its socket; a new one may lead to another server. */
  function connectAnew() {
    if (!client.isReady) return;
    client.destroy();
    void client.connect().catch(() => {});
  }

  try {
    await within(client.connect(), DEADLINE_MS);
  } catch {
    client.destroy();
    throw new StoreUnavailable(`Redis, as REDIS_URL names it, cannot be reached: ${refusal}`);
  }

  return {
    async command<Reply>(args: readonly string[], deadlineMs = DEADLINE_MS) {
      try {
        return await within(client.sendCommand<Reply>(args), deadlineMs);
      } catch (error) {
        if (error instanceof StoreUnavailable || codeOf(error) === 'READONLY') connectAnew();
        throw unavailable(error);
      }
    },
    async subscribe(channel, listener) {
      await within(client.subscribe(channel, listener), DEADLINE_MS);
    },
    onReady: (listener) => void client.on('ready', listener),
    async close() {
      if (client.isOpen) await within(client.close(), DEADLINE_MS).catch(() => client.destroy());
    },
    drop: () => client.destroy(),
  };
}
