export interface Stream<E> {
  /** The gateway's `/graphql`. */
  readonly url: string;
  readonly token: () => string | Promise<string>;
  /** Takes `$after: EventCursor` and selects `cursor`. */
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Reads all data that is shown, with `eventCursor` in the same query, and returns that cursor. */
  readonly refetch: () => Promise<string>;
  /** `errors` say what could not be read of the event: a field that is null for that reason may exist. */
  readonly onEvent: (event: E, errors: Result['errors']) => void;
  readonly signal: AbortSignal;
}

interface Result {
  readonly data?: Readonly<Record<string, { readonly cursor: string } | null>> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: { code: string } }[];
}

/** The gateway sends a comment every 12 seconds: a stream that is silent for longer is dead. */
const SILENCE_MS = 30_000;

/** Delivers each event once until `signal` aborts. Rejects if `refetch` does, or if the subscription is rejected for good. */
export async function follow<E>(stream: Stream<E>): Promise<void> {
  let after = await stream.refetch();
  for (let failures = 0; !stream.signal.aborted; failures += 1) {
    for await (const result of results(stream, after)) {
      const event = Object.values(result.data ?? {})[0];
      after = event?.cursor ?? (await afterFailure(result, after, stream.refetch));
      if (event) stream.onEvent(event as E, result.errors);
      failures = event ? -1 : failures;
    }
    await pause(Math.min(10_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2), stream.signal);
  }
}

/** Retrying would fail again. */
export class Refused extends Error {}

const FINAL = new Set([
  'BAD_USER_INPUT',
  'DOCUMENT_NOT_TRUSTED',
  'NOT_FOUND',
  'QUERY_TOO_EXPENSIVE',
  'UNAUTHENTICATED',
]);

/** The cursor to continue from. If an event could not be delivered, or the cursor has expired, the data is read again. */
async function afterFailure(result: Result, after: string, refetch: () => Promise<string>) {
  const code = result.errors?.[0]?.extensions.code ?? '';
  if (result.data === null || code === 'EVENTS_EXPIRED') return refetch();
  if (FINAL.has(code)) throw new Refused(code);
  return after;
}

/** The results of one connection. If it breaks, the next one continues. */
async function* results<E>(stream: Stream<E>, after: string): AsyncGenerator<Result> {
  const silence = new AbortController();
  const overdue = () => silence.abort();
  let timer = setTimeout(overdue, SILENCE_MS);
  try {
    const response = await fetch(stream.url, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${await stream.token()}`,
      },
      body: JSON.stringify({
        query: stream.query,
        variables: { ...stream.variables, after },
      }),
      signal: AbortSignal.any([stream.signal, silence.signal]),
    });
    const { status } = response;
    // 429: the viewer has too many streams open for now.
    if (status >= 400 && status < 500 && status !== 429) throw new Refused(await response.text());
    if (!response.ok || !response.body) return;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(timer);
      timer = setTimeout(overdue, SILENCE_MS);
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = /^event: next\ndata: (.*)$/s.exec(block)?.[1];
        if (data) yield JSON.parse(data) as Result;
      }
    }
  } catch (error) {
    if (error instanceof Refused) throw error;
  } finally {
    clearTimeout(timer);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
