import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

import { type Gateway, tokenFor } from '../gateway.ts';
import { socketUrl } from './raw-socket.ts';

/** As frontends have it. */
export function clientOf(gateway: Gateway, token?: string): Client {
  return createClient({
    url: socketUrl(gateway.url),
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazy: true,
    connectionParams: async () => ({
      authorization: `Bearer ${token ?? (await tokenFor(['partner']))}`,
    }),
  });
}

// oxlint-disable-next-line typescript/no-explicit-any -- results are asserted on, not computed with
export type Result = { readonly data?: any; readonly errors?: readonly any[] };

/** The results of a subscription, taken one at a time. */
export interface SubscriptionResults extends AsyncDisposable {
  next(): Promise<Result>;
  take(count: number): Promise<readonly Result[]>;
}

/** With `after: eventCursor` every later event is among the results: no need to wait until the subscription has begun. */
export function subscribeTo(
  client: Client,
  query: string,
  variables?: Record<string, unknown>,
): SubscriptionResults {
  const results = client.iterate({ query, ...(variables && { variables }) });
  const next = async (): Promise<Result> => {
    const { value, done } = await results.next();
    if (done) throw new Error('wanted a result, but the subscription has ended');
    return value as Result;
  };
  return {
    next,
    async take(count) {
      const taken: Result[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    async [Symbol.asyncDispose]() {
      await results.return?.();
      await client.dispose();
    },
  };
}

export async function cursorNow(gateway: Gateway): Promise<string> {
  return (await gateway.query('{ eventCursor }')).data.eventCursor;
}
