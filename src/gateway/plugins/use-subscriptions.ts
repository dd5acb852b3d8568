import { hasExpired } from '../../viewer/viewer.ts';
import { requestRejected } from '../client-error.ts';
import { type OpenConnection, createBacklog } from '../open-connections.ts';
import { acceptedBy } from '../request.ts';
import { type Sink, Subscription, type Subscriptions } from '../subscriptions/subscriptions.ts';
import type { GatewayContext, GatewayParts, GatewayPlugin } from '../gateway.ts';

const NOT_STREAMED = requestRejected(
  406,
  'A subscription is served over WebSocket, or to clients that accept text/event-stream.',
);
const TOO_MANY = requestRejected(
  429,
  'You have as many event streams and sockets open as one viewer may have: close one first.',
);
const NO_ROOM = requestRejected(
  503,
  'This gateway is shutting down, or has too many event streams and sockets open. Try again in a moment.',
  'UPSTREAM_UNAVAILABLE',
);

/**
 * Subscribes; equal subscriptions share one execution per event (`onSubscribe`). Over HTTP results are sent as server-
 * sent events, and the response counts as one of the viewer's connections while it is open.
 */
export function useSubscriptions(parts: GatewayParts, { subscribe }: Subscriptions): GatewayPlugin {
  const { connections } = parts;

  async function subscribeOverSse(args: Parameters<typeof subscribe>[0]) {
    const context = args.contextValue as Required<GatewayContext>;
    const { res, viewer } = context;
    // The client may have left while its token was verified: then nothing would release its connection.
    if (res.closed || !acceptedBy(res.req).stream) return { errors: [NOT_STREAMED] };
    if (!parts.isServing() || connections.isFull()) return { errors: [NO_ROOM] };
    if (!connections.perViewer.acquire(viewer.subject)) return { errors: [TOO_MANY] };
    const stream = createSseStream(context, parts);
    context.sink = stream;
    connections.open.add(stream);
    res.once('close', () => {
      connections.perViewer.release(viewer.subject);
      connections.open.delete(stream);
    });
    // Yoga writes the stream's end to a response that may have ended already.
    res.on('error', () => undefined);
    const result = await subscribe(args);
    if (!(result instanceof Subscription)) return result;
    if (res.destroyed) result.end();
    else res.once('close', () => result.end());
    return result;
  }

  return {
    onSubscribe: ({ context, setSubscribeFn }) =>
      setSubscribeFn(context.res ? subscribeOverSse : subscribe),
  };
}

/**
 * The sink of one SSE response. Yoga takes one result at a time, as fast as the client reads them. The response ends
 * without `complete` if the client should reconnect: its token has expired, it is too slow, or this process ends.
 */
function createSseStream({ res, viewer }: Required<GatewayContext>, parts: GatewayParts) {
  const backlog = createBacklog(parts, viewer);
  /** Ends Yoga's wait for a result. */
  let wake: (() => void) | undefined;
  const isClosed = (): boolean => res.writableEnded || res.destroyed;
  res.once('close', () => {
    backlog.clear();
    backlog.take();
    wake?.();
  });

  return {
    backlog,
    check() {
      if (!hasExpired(viewer)) return;
      // A graceful end did not reach the client.
      if (res.writableEnded) res.destroy();
      else this.end();
    },
    /** Without headers, an end would look like an empty response. */
    end() {
      if (res.headersSent) res.end();
      else res.destroy();
    },
    destroy: () => void res.destroy(),
    prepare: (json) => () => {
      if (isClosed()) return;
      if (backlog.put(json)) return wake?.();
      parts.metrics.slowConsumerClosed();
      // The client reads nothing, so a graceful end would not reach it.
      res.destroy();
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed()) {
        const json = backlog.take();
        // Yoga sends what `stringify` returns.
        if (json !== undefined) yield { stringify: () => json };
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  } satisfies Sink & OpenConnection & AsyncIterable<object>;
}
