import { Pool } from 'undici';
import type { Dispatcher } from 'undici';
import type { Cancel } from './cancel.ts';
import type { Clock } from './clock.ts';

/** One HTTP exchange. What matters of a failure is how sure one can be that the request had no effect. */
export type Exchange =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter: string | undefined;
      readonly body: Buffer;
    }
  /** Not a byte of the request left: no connection, or no time left to make one. */
  | { readonly kind: 'unsent' }
  | { readonly kind: 'timeout' }
  /** The connection broke before any answer. */
  | { readonly kind: 'reset' }
  /** The answer began and broke off. */
  | { readonly kind: 'cut' }
  /** No HTTP, or more of it than is sane. */
  | { readonly kind: 'garbled' }
  | { readonly kind: 'aborted' };

export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: string[];
  readonly body: string | null;
  readonly timeoutMs: number;
  readonly cancel: Cancel;
  /** A write goes on to its end even if nobody waits for it: cutting it off would only hide its outcome. */
  readonly keepOnceSent: boolean;
}

export interface Wire {
  send(request: WireRequest): Promise<Exchange>;
  close(): Promise<void>;
}

export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** What undici calls an answer that it can't parse, or whose headers are larger than 16 KiB. */
const GARBLED: ReadonlySet<string> = new Set(['HTTPParserError', 'HeadersOverflowError']);

export function openWire(
  origin: string,
  connections: number,
  connectMs: number,
  clock: Clock,
): Wire {
  const pool = new Pool(origin, {
    connections,
    connect: { timeout: connectMs },
    // One timer for the whole attempt, ours; these two would start anew with each part of the answer.
    headersTimeout: 0,
    bodyTimeout: 0,
    // With HTTP/2 one lost connection would take all calls in flight along.
    allowH2: false,
  });

  return {
    send: (request) => exchange(pool, request, clock),
    close: () => pool.close(),
  };
}

function exchange(pool: Pool, request: WireRequest, clock: Clock): Promise<Exchange> {
  const { cancel } = request;
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let isSettled = false;
    let status = 0;
    let contentType = '';
    let retryAfter: string | undefined;
    let length = 0;
    const chunks: Buffer[] = [];

    const settle = (result: Exchange): void => {
      if (isSettled) return;
      isSettled = true;
      stopTimer();
      cancel.stop = undefined;
      resolve(result);
    };
    const cutShort = (result: Exchange): void => {
      settle(result);
      controller?.abort(new Error(result.kind));
    };
    const stopTimer = clock.after(request.timeoutMs, () =>
      cutShort({ kind: controller ? 'timeout' : 'unsent' }),
    );
    cancel.stop = () => {
      if (!controller || !request.keepOnceSent) cutShort({ kind: 'aborted' });
    };

    const handler: Dispatcher.DispatchHandler = {
      // Called right before the first byte is written: until here the request has had no effect for certain.
      onRequestStart(started) {
        controller = started;
        if (isSettled) started.abort(new Error('nobody waits for it'));
      },
      onResponseStart(_, statusCode, headers) {
        status = statusCode;
        contentType = textOf(headers['content-type']) ?? '';
        retryAfter = textOf(headers['retry-after']);
      },
      onResponseData(_, chunk) {
        length += chunk.length;
        if (length <= MAX_BODY_BYTES) chunks.push(chunk);
        // Of an error's answer the status says enough.
        else if (status >= 400) cutShort(answered(Buffer.alloc(0)));
        else cutShort({ kind: 'garbled' });
      },
      onResponseEnd() {
        const [only] = chunks;
        settle(answered(chunks.length === 1 && only ? only : Buffer.concat(chunks, length)));
      },
      onResponseError(_, error) {
        settle({ kind: failureOf(error, controller !== undefined, status > 0) });
      },
    };
    const answered = (body: Buffer): Exchange => ({
      kind: 'answered',
      status,
      contentType,
      retryAfter,
      body,
    });

    pool.dispatch(
      { method: request.method, path: request.path, headers: request.headers, body: request.body },
      handler,
    );
  });
}

function failureOf(error: Error, isSent: boolean, isAnswering: boolean) {
  if (!isSent) return 'unsent';
  if (GARBLED.has(error.name)) return 'garbled';
  return isAnswering ? 'cut' : 'reset';
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
