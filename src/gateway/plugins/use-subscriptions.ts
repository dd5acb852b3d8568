import type { ServerResponse } from 'node:http';

import type { ExecutionArgs } from 'graphql';

import type { Limits } from '../../config.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import { requestRejected } from '../client-error.ts';
import type { OpenConnection } from '../open-connections.ts';
import { acceptedBy } from '../request.ts';
import { Backlog } from '../subscriptions/backlog.ts';
import { type Sink, Subscription } from '../subscriptions/subscription.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { GatewayParts } from '../gateway.ts';
import type { GatewayContext, GatewayPlugin } from '../yoga.ts';

/**
 * Subscribes; equal subscriptions share one execution per event (`onSubscribe`). Over HTTP results are sent as server-
 * sent events, and the response counts as one of the viewer's connections while it is open.
 */
export function useSubscriptions(parts: GatewayParts, { subscribe }: Subscriptions): GatewayPlugin {
  const { connections, metrics, config } = parts;

  async function subscribeOverSse(args: ExecutionArgs) {
    const context = args.contextValue as Required<GatewayContext>;
    const { res, requester } = context;
    if (!acceptedBy(res.req.headers.accept).stream) return { errors: [notStreamed()] };
    if (!connections.enter(requester.subject)) return { errors: [tooMany()] };
    const stream = createStream(res, requester, config.limits, metrics.slowConsumerClosed);
    res.once('close', () => {
      connections.leave(requester.subject);
      void context.subscription?.return();
      connections.remove(stream);
    });
    // Yoga writes the stream's end to a response that may have ended already.
    res.on('error', () => undefined);
    const subscription = await subscribe(args);
    if (!(subscription instanceof Subscription)) return subscription;
    subscription.sink = stream;
    // This process is shutting down, and an open stream would delay it.
    if (!parts.isServing()) res.destroy();
    if (res.destroyed) void subscription.return();
    else connections.add(stream);
    return subscription;
  }

  return {
    onSubscribe({ args: { contextValue }, setSubscribeFn }) {
      setSubscribeFn((contextValue as GatewayContext).res ? subscribeOverSse : subscribe);
    },
  };
}

const notStreamed = () =>
  requestRejected(
    406,
    'A subscription is served over WebSocket, or to clients that accept text/event-stream.',
  );

const tooMany = () =>
  requestRejected(
    429,
    'You have as many event streams and sockets open as one viewer may have: close one first.',
    'BAD_USER_INPUT',
    { 'retry-after': '5' },
  );

/**
 * The sink of one SSE response. Yoga takes one result at a time, as fast as the client reads them. The response ends
 * without `complete` if the client should reconnect: its token has expired, it is too slow, or this process ends.
 */
function createStream(
  res: ServerResponse,
  { expiresAt = Number.POSITIVE_INFINITY }: Viewer,
  limits: Limits,
  onSlow: () => void,
): Sink & OpenConnection {
  let reader: ((json: string) => void) | undefined;
  let backlog: Backlog | undefined;

  /** The client reads nothing, so a graceful end would not reach it. */
  function disconnectSlowClient(): void {
    onSlow();
    res.destroy();
  }

  const isExpired = (): boolean => Date.now() >= expiresAt;
  const interrupt = (): void => void res.end();

  return {
    check(now, isLate) {
      // A graceful end did not reach the client.
      if (isExpired() && res.writableEnded) res.destroy();
      else if (isExpired()) interrupt();
      else if (!isLate && backlog?.isStalled(now)) disconnectSlowClient();
    },
    end: interrupt,
    destroy: () => void res.destroy(),
    interrupt,
    take() {
      const waiting = backlog?.take();
      if (waiting !== undefined) return Promise.resolve(waiting);
      backlog = undefined;
      return new Promise<string>((resolve) => (reader = resolve));
    },
    deliver({ json }) {
      if (isExpired()) interrupt();
      if (res.writableEnded || res.destroyed) return;
      if (reader) {
        reader(json);
        reader = undefined;
        return;
      }
      backlog ??= new Backlog(limits);
      const isPut = backlog.put(json, res.writableLength);
      return isPut ? backlog.caughtUp : disconnectSlowClient();
    },
  };
}
