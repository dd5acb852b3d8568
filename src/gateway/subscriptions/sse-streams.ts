import type { ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import type { Viewer } from '../../viewer/viewer.ts';
import { requestRejected } from '../client-error.ts';
import {
  type OpenConnection,
  type OpenConnections,
  type ViewerConnections,
  createOpenConnections,
} from '../open-connections.ts';
import { type Backlog, type BacklogLimits, createBacklog } from './backlog.ts';
import { type EventResult, type Sink, Subscription } from './subscription.ts';

/** A reader that takes nothing for so long, while something waits for it, is not reading any more. */
const STALLED_MS = 10_000;

export interface SseStreamsParts {
  readonly limits: BacklogLimits & { readonly socketPingMs: number };
  readonly viewers: ViewerConnections;
  readonly onSlow: () => void;
}

/** A subscription that Yoga reads, result by result, as fast as the client takes them. */
interface SseStream extends Sink, OpenConnection {
  take(): Promise<ExecutionResult>;
}

export interface SseStreams {
  readonly open: OpenConnections;
  /** Counts the stream as one of the viewer's connections for as long as the response is open. */
  follow(
    res: ServerResponse,
    viewer: Viewer,
    subscribe: () => Promise<Subscription | ExecutionResult>,
  ): Promise<Subscription | ExecutionResult>;
}

/**
 * Subscriptions as server-sent events. A stream ends without `complete` where the client is to come back: its token has
 * expired, it is too slow, or this process ends.
 */
export function createSseStreams({ limits, viewers, onSlow }: SseStreamsParts): SseStreams {
  const open = createOpenConnections(limits.socketPingMs);

  /** It reads nothing, so it would not read an end either. */
  function cut(res: ServerResponse): void {
    onSlow();
    res.destroy();
  }

  return {
    open,
    async follow(res, viewer, subscribe) {
      if (!viewers.enter(viewer.subject)) return { errors: [tooMany()] };
      let subscription: Subscription | undefined;
      let stream: SseStream | undefined;
      res.once('close', () => {
        viewers.leave(viewer.subject);
        void subscription?.return();
        if (stream) open.remove(stream);
      });
      // Yoga writes the stream's end to a response that may have ended already.
      res.on('error', () => undefined);
      const subscribed = await subscribe();
      if (!(subscribed instanceof Subscription)) return subscribed;
      subscription = subscribed;
      stream = createStream(res, viewer, limits, () => cut(res));
      subscription.sink = stream;
      open.add(stream);
      if (res.destroyed) void subscription.return();
      return subscription;
    },
  };
}

const tooMany = () =>
  requestRejected(
    429,
    'You have as many event streams and sockets open as one viewer may have: close one first.',
    'BAD_USER_INPUT',
    { 'retry-after': '5' },
  );

function createStream(
  res: ServerResponse,
  { expiresAt = Number.POSITIVE_INFINITY }: Viewer,
  limits: BacklogLimits,
  cut: () => void,
): SseStream {
  let reader: ((result: ExecutionResult) => void) | undefined;
  let backlog: Backlog<EventResult> | undefined;

  function write({ result }: EventResult): void {
    reader?.(result);
    reader = undefined;
  }

  const outlet = {
    write,
    sizeOf: ({ json }: EventResult) => json.length,
    isFull: () => reader === undefined,
    bufferedBytes: () => res.writableLength,
  };
  const isExpired = (): boolean => Date.now() >= expiresAt;
  const interrupt = (): void => void res.end();

  return {
    check(now, isLate) {
      if (isExpired()) interrupt();
      else if (!isLate && backlog?.isStalled(now, STALLED_MS)) cut();
    },
    end: interrupt,
    destroy: () => void res.destroy(),
    interrupt,
    take() {
      const { promise, resolve } = Promise.withResolvers<ExecutionResult>();
      reader = resolve;
      backlog?.flushed();
      if (backlog?.hasCaughtUp) backlog = undefined;
      return promise;
    },
    deliver(result) {
      if (isExpired()) interrupt();
      if (res.writableEnded || res.destroyed) return;
      if (reader && !backlog) return write(result);
      backlog ??= createBacklog(outlet, limits);
      return backlog.put(result) ? backlog.caughtUp : cut();
    },
  };
}
