import { type Gateway, type GraphQLAnswer, tokenFor } from '../gateway.ts';

export interface Listener {
  /** The next result, as it came. */
  next(): Promise<Pick<GraphQLAnswer, 'data' | 'errors'>>;
  close(): void;
}

/** A subscription over server-sent events, live once this resolves. */
export async function listen(
  gateway: Gateway,
  grants: readonly string[],
  query: string,
  variables: object = {},
  subject = 'listener',
): Promise<Listener> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    signal: leaving.signal,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${await tokenFor(grants, { subject })}`,
    },
    body: JSON.stringify({ query, variables }),
  });
  const events = eventsIn(response);
  return {
    async next() {
      const { value } = await events.next();
      return JSON.parse(value ?? 'null');
    },
    close: () => leaving.abort(),
  };
}

async function* eventsIn(response: Response): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^event: next\ndata: ([^\n]*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data !== undefined) yield data;
    }
  }
}
