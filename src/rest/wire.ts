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
        pool.dispatch({ method, path, headers, body }, createSending(request, clock, resolve));
      }),
    close: () => pool.close(),
  };
}

/** One request on its way. A record, and functions over it: a query may have hundreds of them. */
interface Sending extends Dispatcher.DispatchHandler {
  readonly cancel: Cancel;
  readonly resolve: (exchange: Exchange) => void;
  readonly stopTimer: () => void;
  controller: Dispatcher.DispatchController | undefined;
  isSettled: boolean;
  status: number;
  contentType: string;
  retryAfter: string | undefined;
  length: number;
  readonly chunks: Buffer[];
}

function createSending(
  { cancel, keepOnceSent, timeoutMs }: WireRequest,
  clock: Clock,
  resolve: (exchange: Exchange) => void,
): Sending {
  const sending: Sending = {
    cancel,
    resolve,
    stopTimer: clock.after(timeoutMs, () =>
      cutShort(sending, { kind: sending.controller ? 'timeout' : 'unsent' }),
    ),
    controller: undefined,
    isSettled: false,
    status: 0,
    contentType: '',
    retryAfter: undefined,
    length: 0,
    chunks: [],
    onRequestStart,
    onResponseStart,
    onResponseData,
    onResponseEnd,
    onResponseError,
  };
  cancel.stop = () => {
    if (!sending.controller || !keepOnceSent) cutShort(sending, { kind: 'aborted' });
  };
  return sending;
}

/** Called right before the first byte is written: until here the request has had no effect for certain. */
function onRequestStart(this: Sending, started: Dispatcher.DispatchController): void {
  this.controller = started;
  if (this.isSettled) started.abort(new Error('nobody waits for it'));
}

function onResponseStart(
  this: Sending,
  _: unknown,
  status: number,
  headers: IncomingHttpHeaders,
): void {
  this.status = status;
  this.contentType = textOf(headers['content-type']) ?? '';
  this.retryAfter = textOf(headers['retry-after']);
}

function onResponseData(this: Sending, _: unknown, chunk: Buffer): void {
  this.length += chunk.length;
  if (this.length <= MAX_BODY_BYTES) this.chunks.push(chunk);
  // Of an error's answer the status says enough.
  else if (this.status >= 400) cutShort(this, answered(this, Buffer.alloc(0)));
  else cutShort(this, { kind: 'garbled' });
}

function onResponseEnd(this: Sending): void {
  const [only] = this.chunks;
  const isOne = this.chunks.length === 1 && only !== undefined;
  settle(this, answered(this, isOne ? only : Buffer.concat(this.chunks, this.length)));
}

function onResponseError(this: Sending, _: unknown, error: Error): void {
  settle(this, { kind: failureOf(error, this.controller !== undefined, this.status > 0) });
}

function answered({ status, contentType, retryAfter }: Sending, body: Buffer): Exchange {
  return { kind: 'answered', status, contentType, retryAfter, body };
}

function settle(sending: Sending, result: Exchange): void {
  if (sending.isSettled) return;
  sending.isSettled = true;
  sending.stopTimer();
  sending.cancel.stop = undefined;
  sending.resolve(result);
}

function cutShort(sending: Sending, result: Exchange): void {
  settle(sending, result);
  sending.controller?.abort(new Error(result.kind));
}

function failureOf(error: Error, isSent: boolean, isAnswering: boolean) {
  if (!isSent) return 'unsent';
  if (GARBLED.has(error.name)) return 'garbled';
  return isAnswering ? 'cut' : 'reset';
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
