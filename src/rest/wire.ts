import type { IncomingHttpHeaders } from 'node:http';
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
    send: (request) =>
      new Promise((resolve) => {
        const { method, path, headers, body } = request;
        pool.dispatch({ method, path, headers, body }, new Sending(request, clock, resolve));
      }),
    close: () => pool.close(),
  };
}

/** One request on its way. A class, since a query may have hundreds of them. */
class Sending implements Dispatcher.DispatchHandler {
  readonly #keepOnceSent: boolean;
  readonly #cancel: Cancel;
  readonly #resolve: (exchange: Exchange) => void;
  readonly #stopTimer: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #status = 0;
  #contentType = '';
  #retryAfter: string | undefined;
  #length = 0;
  readonly #chunks: Buffer[] = [];

  constructor(request: WireRequest, clock: Clock, resolve: (exchange: Exchange) => void) {
    this.#keepOnceSent = request.keepOnceSent;
    this.#cancel = request.cancel;
    this.#resolve = resolve;
    this.#stopTimer = clock.after(request.timeoutMs, () =>
      this.#cutShort({ kind: this.#controller ? 'timeout' : 'unsent' }),
    );
    request.cancel.stop = () => {
      if (!this.#controller || !this.#keepOnceSent) this.#cutShort({ kind: 'aborted' });
    };
  }

  /** Called right before the first byte is written: until here the request has had no effect for certain. */
  onRequestStart(started: Dispatcher.DispatchController): void {
    this.#controller = started;
    if (this.#isSettled) started.abort(new Error('nobody waits for it'));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#contentType = textOf(headers['content-type']) ?? '';
    this.#retryAfter = textOf(headers['retry-after']);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.#length += chunk.length;
    if (this.#length <= MAX_BODY_BYTES) this.#chunks.push(chunk);
    // Of an error's answer the status says enough.
    else if (this.#status >= 400) this.#cutShort(this.#answered(Buffer.alloc(0)));
    else this.#cutShort({ kind: 'garbled' });
  }

  onResponseEnd(): void {
    const chunks = this.#chunks;
    const [only] = chunks;
    const isOne = chunks.length === 1 && only !== undefined;
    this.#settle(this.#answered(isOne ? only : Buffer.concat(chunks, this.#length)));
  }

  onResponseError(_: unknown, error: Error): void {
    const isSent = this.#controller !== undefined;
    this.#settle({ kind: failureOf(error, isSent, this.#status > 0) });
  }

  #answered(body: Buffer): Exchange {
    return {
      kind: 'answered',
      status: this.#status,
      contentType: this.#contentType,
      retryAfter: this.#retryAfter,
      body,
    };
  }

  #settle(result: Exchange): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#stopTimer();
    this.#cancel.stop = undefined;
    this.#resolve(result);
  }

  #cutShort(result: Exchange): void {
    this.#settle(result);
    this.#controller?.abort(new Error(result.kind));
  }
}

function failureOf(error: Error, isSent: boolean, isAnswering: boolean) {
  if (!isSent) return 'unsent';
  if (GARBLED.has(error.name)) return 'garbled';
  return isAnswering ? 'cut' : 'reset';
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
