import type { ServerResponse } from 'node:http';
import { matchesRoute } from './router.ts';

/** A response that a test sets up in advance, for one route and a number of requests. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is. */
  readonly rawBody?: string | Uint8Array;
  /** When to reset the connection: after reading the request, or after half of the response. */
  readonly reset?: 'afterReceiving' | 'midAnswer';
  /** Never responds. */
  readonly hang?: boolean;
  /** Sent once this is resolved. Can't be set over HTTP. */
  readonly heldUntil?: Promise<unknown> | undefined;
  /** The request is executed before this response replaces its own. */
  readonly takesEffect?: boolean;
  readonly times?: number;
}

export type ScriptedAnswers = ReturnType<typeof createScriptedAnswers>;

export function createScriptedAnswers() {
  let waiting: { readonly pattern: string; readonly answer: ScriptedAnswer; left: number }[] = [];
  return {
    /** Throws if the answer could not be sent. */
    add(pattern: string, answer: ScriptedAnswer) {
      void new Response(null, { status: answer.status ?? 200, headers: Object(answer.headers) });
      void Buffer.from((answer.rawBody ?? '') as string);
      waiting.push({ pattern, answer, left: answer.times ?? 1 });
    },
    /** Removes and returns the next answer for this route. */
    take(template: string): ScriptedAnswer | undefined {
      const entry = waiting.find(({ pattern }) => matchesRoute(pattern, template));
      if (!entry) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) waiting = waiting.filter((other) => other !== entry);
      return entry.answer;
    },
    clear: () => void (waiting = []),
  };
}

export function sendScripted(answer: ScriptedAnswer, response: ServerResponse): void {
  if (answer.hang) return;
  // `destroy` would close the connection gracefully; the client should get ECONNRESET.
  if (answer.reset === 'afterReceiving') return void response.socket?.resetAndDestroy();
  const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
  // `Buffer.from` also takes bytes, but its types have no signature for both.
  const bytes = Buffer.from((answer.rawBody ?? text) as string);
  response.writeHead(answer.status ?? 200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...answer.headers,
  });
  if (answer.reset === undefined) response.end(bytes);
  else {
    const half = bytes.subarray(0, Math.ceil(bytes.length / 2));
    response.write(half, () => response.socket?.resetAndDestroy());
  }
}
