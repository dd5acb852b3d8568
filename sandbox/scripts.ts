import type { ServerResponse } from 'node:http';
import { isRouteMeant } from './router.ts';

/** An answer written in advance, for one route and a number of requests. */
export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it is, whatever it is. */
  readonly rawBody?: string | Uint8Array;
  /** Cuts the connection: once the request is read, or when half the answer is out. */
  readonly reset?: 'afterReceiving' | 'midAnswer';
  /** Never answers. */
  readonly hang?: boolean;
  readonly delayMs?: number;
  /** The request takes effect before this answer hides it. */
  readonly takesEffect?: boolean;
  readonly times?: number;
}

export interface Scripts {
  readonly add: (pattern: string, answer: ScriptedAnswer) => void;
  /** The next answer written for this route, used up by asking. */
  readonly take: (template: string) => ScriptedAnswer | undefined;
  readonly clear: () => void;
}

export function createScripts(): Scripts {
  let waiting: { readonly pattern: string; readonly answer: ScriptedAnswer; left: number }[] = [];
  return {
    add(pattern, answer) {
      waiting.push({ pattern, answer, left: answer.times ?? 1 });
    },
    take(template) {
      const entry = waiting.find(({ pattern }) => isRouteMeant(pattern, template));
      if (!entry) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) waiting = waiting.filter((other) => other !== entry);
      return entry.answer;
    },
    clear() {
      waiting = [];
    },
  };
}

export function play(answer: ScriptedAnswer, response: ServerResponse): void {
  if (answer.hang) return;
  if (answer.reset === 'afterReceiving') {
    // A plain destroy would say goodbye in order; the client should see ECONNRESET.
    response.socket?.resetAndDestroy();
    return;
  }
  const bytes = bytesOf(answer);
  response.writeHead(answer.status ?? 200, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...answer.headers,
  });
  if (answer.reset === undefined) {
    response.end(bytes);
    return;
  }
  response.write(bytes.subarray(0, Math.ceil(bytes.length / 2)), () => {
    response.socket?.resetAndDestroy();
  });
}

function bytesOf({ body, rawBody }: ScriptedAnswer): Buffer {
  if (rawBody !== undefined) {
    return typeof rawBody === 'string' ? Buffer.from(rawBody) : Buffer.from(rawBody);
  }
  return Buffer.from(body === undefined ? '' : JSON.stringify(body));
}
