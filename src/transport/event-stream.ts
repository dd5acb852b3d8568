import type { ExecutionResult } from 'graphql';

import type { Viewer } from '../viewer/viewer.ts';
import type { FanOut } from './fan-out.ts';
import type { Prepared } from './pipeline.ts';

/** A client that reads slower than events come is let go at this many; it resumes by its cursor. */
const MOST_WAITING = 256;

/** A subscription as a stream of results. It ends when the viewer's token does. */
export function eventStream(
  fanOut: FanOut,
  prepared: Prepared,
  viewer: Viewer,
): AsyncIterableIterator<ExecutionResult> {
  const waiting: ExecutionResult[] = [];
  const ending = new AbortController();
  let wake: () => void = () => {};
  const push = (result: ExecutionResult): void => {
    waiting.push(result);
    if (waiting.length > MOST_WAITING) ending.abort();
    wake();
  };
  ending.signal.addEventListener('abort', () => wake());
  const expiry =
    viewer.expiresAt && setTimeout(() => ending.abort(), viewer.expiresAt - Date.now());

  const sink = (payload: string) => push(JSON.parse(payload) as ExecutionResult);
  void fanOut.subscribe(prepared, viewer, 'sse', sink, ending.signal).then((refusal) => {
    if (!refusal) return;
    push({ errors: refusal.errors as never });
    ending.abort();
  });

  const done = { done: true, value: undefined } as const;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (waiting.length === 0 && !ending.signal.aborted) {
        await new Promise<void>((resolve) => (wake = resolve));
      }
      const value = waiting.shift();
      return value ? { done: false, value } : done;
    },
    async return() {
      clearTimeout(expiry);
      ending.abort();
      waiting.length = 0;
      return done;
    },
  };
}
