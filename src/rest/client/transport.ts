import type { Dispatcher } from 'undici';
import { endOfTurn } from '../../end-of-turn.ts';
import { CHUNK_BYTES } from '../../request-body.ts';
import type { Call } from './call.ts';

/**
 * How one attempt ended. `unsent`: no byte of the request was sent. `reset`: the connection broke before any answer.
 * `cut`: the answer is incomplete. `garbled`: it is not HTTP, or too large.
 */
export type Outcome = 'answered' | 'unsent' | 'timeout' | 'reset' | 'cut' | 'garbled' | 'aborted';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** Names of undici's errors for an answer it can't parse, with two lengths, or with more than 16 KiB of headers. */
const GARBLED: ReadonlySet<string> = new Set([
  'HTTPParserError',
  'ResponseContentLengthMismatchError',
  'HeadersOverflowError',
]);

/** One HTTP request and its answer, as undici's handler. */
export class Attempt implements Dispatcher.DispatchHandler {
  outcome: Outcome | undefined;
  status = 0;
  contentType = '';
  retryAfter: string | undefined;
  body: Buffer = EMPTY;
  receivedBytes = 0;
  /** Why no connection could be made: a code of Node's, such as `ENOTFOUND` or `CERT_HAS_EXPIRED`. */
  unsentCode: string | undefined;
  private readonly chunks: Buffer[] = [];
  private controller: Dispatcher.DispatchController | undefined;
  readonly token: string;
  readonly startedAt: number;
  /** It ended while undici was connecting for it, which can't be cancelled. Its slot is released when that is over. */
  holdsSlot = false;
  private readonly call: Call;

  constructor(call: Call, token: string, startedAt: number) {
    this.call = call;
    this.token = token;
    this.startedAt = startedAt;
  }

  /** True once a byte of it may have been sent. */
  get isSent(): boolean {
    return this.controller !== undefined;
  }

  get isSuccess(): boolean {
    return this.outcome === 'answered' && this.status >= 200 && this.status < 300;
  }

  /** Ends it early. */
  end(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.holdsSlot = !this.isSent;
    // Aborted first, so that its connection is free for the next call.
    this.controller?.abort(new Error(outcome));
    this.call.finished(this);
  }

  /** Called right before the first byte is written. Until then the request can't have had an effect. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.outcome !== undefined) controller.abort(new Error(this.outcome));
  }

  onResponseStart(_: unknown, status: number, headers: NodeJS.Dict<string | string[]>): void {
    this.status = status;
    // A header that is sent twice is a list in undici.
    this.contentType = String(headers['content-type'] ?? '');
    if (status === 429) this.retryAfter = [headers['retry-after']].flat()[0];
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.receivedBytes += chunk.length;
    const overhead = this.chunks.length * CHUNK_BYTES;
    if (Math.max(this.receivedBytes, overhead) <= MAX_BODY_BYTES) return;
    // For an error the status is enough.
    this.end(this.status >= 400 ? 'answered' : 'garbled');
  }

  onResponseEnd(): void {
    // Nearly every body comes in one piece.
    this.body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.finish('answered');
  }

  onResponseError(_: unknown, error: NodeJS.ErrnoException): void {
    if (!this.isSent) this.unsentCode = error.code;
    if (this.holdsSlot) this.call.partner.limiter.release();
    else if (!this.isSent) this.finish('unsent');
    else if (GARBLED.has(error.name)) this.finish('garbled');
    else this.finish(this.status >= 200 ? 'cut' : 'reset');
  }

  private finish(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    void endOfTurn().then(() => this.call.finished(this));
  }
}
