import { lookup as systemLookup } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Pool, type Dispatcher } from 'undici';

/**
 * How one attempt ended. `unsent`: no byte of the request was sent. `reset`: the connection broke before any answer.
 * `cut`: the answer is incomplete. `garbled`: it is not HTTP, or too large.
 */
export type Outcome = 'answered' | 'unsent' | 'timeout' | 'reset' | 'cut' | 'garbled' | 'aborted';

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const EMPTY = Buffer.alloc(0);

/** What undici calls an answer that it can't parse, or whose headers are larger than 16 KiB. */
const GARBLED: ReadonlySet<string> = new Set(['HTTPParserError', 'HeadersOverflowError']);

/** One HTTP request and its answer, as undici's handler. */
export class Attempt implements Dispatcher.DispatchHandler {
  outcome: Outcome | undefined;
  status = 0;
  contentType = '';
  retryAfter: string | undefined;
  body: Buffer = EMPTY;
  /** Bytes received of the body. */
  length = 0;
  private readonly chunks: Buffer[] = [];
  private controller: Dispatcher.DispatchController | undefined;
  readonly token: string;
  readonly startedAt: number;
  private readonly call: { finished(attempt: Attempt): void };

  constructor(call: { finished(attempt: Attempt): void }, token: string, startedAt: number) {
    this.call = call;
    this.token = token;
    this.startedAt = startedAt;
  }

  /** True once a byte of it may have been sent. */
  get isSent(): boolean {
    return this.controller !== undefined;
  }

  /** Ends it early. */
  end(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    // Aborted first, so that its connection is free for the next call.
    this.controller?.abort(new Error(outcome));
    this.call.finished(this);
  }

  /** Called right before the first byte is written. Until then the request can't have had an effect. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.outcome !== undefined) controller.abort(new Error(this.outcome));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.contentType = firstOf(headers['content-type']) ?? '';
    this.retryAfter = firstOf(headers['retry-after']);
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    this.chunks.push(chunk);
    this.length += chunk.length;
    // For an error the status is enough.
    if (this.length > MAX_BODY_BYTES) this.end(this.status >= 400 ? 'answered' : 'garbled');
  }

  onResponseEnd(): void {
    // Nearly every body comes in one piece.
    this.body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.finish('answered');
  }

  onResponseError(_: unknown, error: Error): void {
    if (!this.isSent) this.finish('unsent');
    else if (GARBLED.has(error.name)) this.finish('garbled');
    else this.finish(this.status > 0 ? 'cut' : 'reset');
  }

  private finish(outcome: Outcome): void {
    if (this.outcome !== undefined) return;
    this.outcome = outcome;
    this.call.finished(this);
  }
}

const firstOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/**
 * HTTP/1.1, since with HTTP/2 one lost connection would fail all calls in flight. undici's timeouts are off: each
 * attempt has its own timer.
 */
export function openPool(
  { hostname, origin }: URL,
  connections: number,
  connectMs: number,
  lookup: LookupFunction = systemLookup,
): Pool {
  if (isForbiddenHost(hostname)) {
    throw new Error('the base URL of the Partner API must not be a link-local or metadata address');
  }
  return new Pool(origin, {
    connections,
    connect: { timeout: connectMs, lookup: guarded(lookup) },
    headersTimeout: 0,
    bodyTimeout: 0,
    allowH2: false,
  });
}

/**
 * Link-local addresses, and those of cloud metadata services: a name that resolves to one of them could leak the
 * instance's credentials.
 */
const forbidden = new BlockList();
forbidden.addSubnet('169.254.0.0', 16);
forbidden.addSubnet('fe80::', 10, 'ipv6');
// The same IPv4 range behind NAT64; IPv4-mapped addresses are looked up as IPv4.
forbidden.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
for (const address of ['168.63.129.16', '100.100.100.200', '192.0.0.192']) {
  forbidden.addAddress(address);
}
for (const address of ['fd00:ec2::254', 'fd20:ce::254']) forbidden.addAddress(address, 'ipv6');

/** Checks addresses only. Names are checked once they are resolved. */
function isForbiddenHost(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const family = isIP(address);
  return family !== 0 && forbidden.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** Checks the address that is really connected to: a name may resolve to another one each time. */
function guarded(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, found, family) => {
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found];
      const isForbidden = !error && addresses.some(isForbiddenHost);
      const refusal = new Error('the host resolves to a link-local or metadata address');
      callback(isForbidden ? refusal : error, found, family);
    });
  };
}
