import type { ExecutionArgs } from 'graphql';

import { requestRejected } from '../client-error.ts';
import type { GatewayContext } from '../context.ts';
import { acceptedBy } from '../request.ts';
import type { SseStreams } from '../subscriptions/sse-streams.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** Subscribes with results that equal subscriptions share (`onSubscribe`). Over HTTP, to clients that take events. */
export function useSubscriptions(subscriptions: Subscriptions, streams: SseStreams): GatewayPlugin {
  return {
    onSubscribe({ args: { contextValue }, setSubscribeFn, setResultAndStopExecution }) {
      const { req, res, requester } = contextValue as GatewayContext;
      if (!req || !res) {
        setSubscribeFn(subscriptions.subscribe);
        return;
      }
      if (!acceptedBy(req.headers.accept).stream) {
        setResultAndStopExecution({ errors: [notStreamed()] });
        return;
      }
      Object.assign(contextValue, { transport: 'sse' });
      setSubscribeFn((args: ExecutionArgs) =>
        streams.follow(res, requester!, () => subscriptions.subscribe(args)),
      );
    },
  };
}

const notStreamed = () =>
  requestRejected(
    406,
    'A subscription is served over WebSocket, or to clients that accept text/event-stream.',
  );
