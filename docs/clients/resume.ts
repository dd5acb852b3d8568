import {
  type Client,
  type FormattedExecutionResult,
  type Sink,
  type SubscribePayload,
  createClient,
} from 'graphql-ws';

/** Longer than any proxy should take to pass a pong on. */
const PONG_MS = 5_000;
/** Longer than it should take to connect, with a new token. */
const CONNECT_MS = 10_000;

/** A client that reconnects without end, each time with a new token. */
export function connect(url: string, token: () => string | Promise<string>): Client {
  let overdue: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url,
    connectionParams: async () => ({ authorization: `Bearer ${await token()}` }),
    retryAttempts: Infinity,
    // Without this an unreachable server, which is an error and no close, ends every subscription.
    shouldRetry: () => true,
    retryWait: (retries) => pause(Math.min(10_000, 500 * 2 ** retries) * (0.5 + Math.random() / 2)),
    // A dead connection is detected by a missing pong.
    keepAlive: 10_000,
    on: {
      connecting: () => (overdue = setTimeout(() => client.terminate(), CONNECT_MS)),
      connected: () => clearTimeout(overdue),
      // Otherwise the failed socket, which may close later, would end the subscriptions of the next one.
      error: () => client.terminate(),
      ping: (isReceived) => {
        if (!isReceived) overdue = setTimeout(() => client.terminate(), PONG_MS);
      },
      pong: (isReceived) => isReceived && clearTimeout(overdue),
      closed: () => clearTimeout(overdue),
    },
  });
  return {
    ...client,
    // It rejects if a connection that is being made fails.
    dispose: async () => Promise.resolve(client.dispose()).catch(() => {}),
  };
}

/**
 * The same client, but a subscription that comes back, or failed for a moment, asks for what is `after` the last event it
 * got. For documents that take `$after: EventCursor` and select `cursor`.
 */
export function resuming(client: Client): Client {
  return {
    ...client,
    subscribe<D, X>(payload: SubscribePayload, sink: Sink<FormattedExecutionResult<D, X>>) {
      let after = payload.variables?.['after'];
      const variables = {
        ...payload.variables,
        // Read each time the client sends its subscriptions again.
        get after() {
          return after;
        },
      };
      let timer: ReturnType<typeof setTimeout> | undefined;
      let unsubscribe: () => void;
      function start(): void {
        unsubscribe = client.subscribe<D, X>(
          { ...payload, variables },
          {
            next(result) {
              after = eventIn(result.data)?.cursor ?? after;
              sink.next(result);
            },
            error(reason) {
              if (TRANSIENT.has(codeOf(reason))) timer = setTimeout(start, 5_000 * Math.random());
              else sink.error(reason);
            },
            complete: () => sink.complete(),
          },
        );
      }
      start();
      return () => {
        clearTimeout(timer);
        unsubscribe();
      };
    },
  };
}

export interface Follow<E> {
  readonly client: Client;
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Reads all data that is shown, with `eventCursor` in the same query, and returns that cursor. */
  readonly refetch: () => Promise<string>;
  /** `errors` say what could not be read of the event: a field that is null for that reason may exist. */
  readonly onEvent: (event: E, errors: FormattedExecutionResult['errors']) => void;
  /** The subscription has ended: errors of the gateway, a final close code, or an error of `refetch`. */
  readonly onEnd: (reason: unknown) => void;
}

/** Reads the data, then delivers each later event once. Returns a function that stops it. */
export function follow<E extends object>(options: Follow<E>): () => void {
  const client = resuming(options.client);
  let isOver = false;
  let unsubscribe: (() => void) | undefined;

  function end(reason: unknown): void {
    if (isOver) return;
    isOver = true;
    options.onEnd(reason);
  }
  async function begin(delayMs = 0): Promise<void> {
    await pause(delayMs);
    if (!isOver) listen(await options.refetch());
  }
  function listen(after: string): void {
    if (isOver) return;
    unsubscribe = client.subscribe(
      { query: options.query, variables: { ...options.variables, after } },
      {
        next({ data, errors }) {
          const event = eventIn(data);
          if (event) return options.onEvent(event as E, errors);
          // An event could not be delivered.
          unsubscribe?.();
          begin().catch(end);
        },
        error(reason) {
          if (codeOf(reason) === 'EVENTS_EXPIRED') begin(5_000 * Math.random()).catch(end);
          else end(reason);
        },
        complete: () => {},
      },
    );
  }
  begin().catch(end);
  return () => {
    isOver = true;
    unsubscribe?.();
  };
}

/** Codes of errors that are usually temporary. */
const TRANSIENT = new Set([
  'INTERNAL_SERVER_ERROR',
  'TIMEOUT',
  'UPSTREAM_RATE_LIMITED',
  'UPSTREAM_UNAVAILABLE',
]);

/** A subscription has one field, whatever it is called. */
const eventIn = (data: unknown): { readonly cursor?: string } | undefined =>
  Object.values(data ?? {})[0] ?? undefined;

const codeOf = (reason: unknown): string =>
  Array.isArray(reason) ? String(reason[0]?.extensions?.code) : '';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
