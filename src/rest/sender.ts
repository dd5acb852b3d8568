import type { Allowance } from './allowance.ts';
import type { Verdict } from './breaker.ts';
import type { Breakers } from './breakers.ts';
import type { Call } from './call.ts';
import type { Clock } from './clock.ts';
import { OperationAborted, PartnerRateLimited, PartnerUnavailable } from './errors.ts';
import type { Limiter } from './limiter.ts';
import type { PartnerObserver } from './observer.ts';
import type { Tokens } from './tokens.ts';
import type { Exchange, Wire } from './wire.ts';

export interface SenderParts {
  readonly wire: Wire;
  readonly limiter: Limiter;
  readonly allowance: Allowance;
  readonly breakers: Breakers;
  readonly tokens: Tokens;
  readonly clock: Clock;
  readonly observer: PartnerObserver;
  readonly apiKey: string;
  /** What the base URL has after its host. */
  readonly pathPrefix: string;
  /** An attempt that may be repeated. */
  readonly timeoutMs: number;
}

export interface Sent {
  readonly exchange: Exchange;
  /** Empty for the call that obtains it. */
  readonly token: string;
}

/** When the call must end, all its attempts together. Set once its first turn has come. */
export interface Deadline {
  endsAt: number | undefined;
}

/** From the first attempt on; what is not to be repeated gets all of it for its one attempt. */
const CALL_MS = 15_000;

const NO_TOKEN = '';

/** One attempt: waits for its turn, is counted, and sent. Throws only if nothing was sent. */
export type Send = (call: Call, deadline: Deadline, isRetry: boolean) => Promise<Sent>;

export function createSender(parts: SenderParts): Send {
  const { allowance, breakers, clock, limiter, observer, tokens, wire } = parts;

  /** Resolves with the slot held, and with the token as it is then rather than when the wait began. */
  const turn = async (call: Call): Promise<string> => {
    for (;;) {
      if (breakers.of(call.template).refuses()) throw failingFast(call);
      if (call.isAuthorized && tokens.current() === undefined) await tokens.obtain();
      const isGiven = await limiter.take(call.lane, call.cancel);
      if (!isGiven) throw new OperationAborted(call.template);
      const token = call.isAuthorized ? tokens.current() : NO_TOKEN;
      if (token !== undefined && !call.cancel.cancelled) return token;
      limiter.release();
      if (call.cancel.cancelled) throw new OperationAborted(call.template);
    }
  };

  /** The same without a wait, which is most of the time. */
  const turnNow = (call: Call): string | undefined => {
    if (breakers.of(call.template).refuses()) throw failingFast(call);
    const token = call.isAuthorized ? tokens.current() : NO_TOKEN;
    return token !== undefined && limiter.takeNow() ? token : undefined;
  };

  const timeoutMsOf = (call: Call, deadline: Deadline): number => {
    deadline.endsAt ??= clock.now() + CALL_MS;
    const leftMs = deadline.endsAt - clock.now();
    if (leftMs <= 0) throw new PartnerUnavailable(call.template, 'no clear answer within 15 s');
    return call.repeat === 'never' ? leftMs : Math.min(parts.timeoutMs, leftMs);
  };

  const exchange = (call: Call, token: string, timeoutMs: number): Promise<Exchange> =>
    wire.send({
      method: call.method,
      path: parts.pathPrefix + call.path,
      headers: headersOf(call, token, parts.apiKey),
      body: call.body,
      timeoutMs,
      cancel: call.cancel,
      keepOnceSent: call.isWrite,
    });

  const tell = (call: Call, result: Exchange, startedAt: number): void => {
    observer.attempt?.({
      method: call.method,
      route: call.template,
      status: result.kind === 'answered' ? result.status : undefined,
      outcome: outcomeOf(result),
      durationMs: clock.now() - startedAt,
      traceHeaders: call.headers,
    });
  };

  return async (call, deadline, isRetry) => {
    const token = turnNow(call) ?? (await turn(call));
    const breaker = breakers.of(call.template);
    const pass = breaker.enter();
    let verdict: Verdict = 'unclear';
    try {
      if (!pass) throw failingFast(call);
      const timeoutMs = timeoutMsOf(call, deadline);
      call.charge(isRetry);
      const spent = allowance.spend();
      if (spent) throw quotaUsedUp(call, spent.exhaustedForSeconds);
      const startedAt = clock.now();
      const result = await exchange(call, token, timeoutMs);
      tell(call, result, startedAt);
      verdict = verdictOf(result);
      return { exchange: result, token };
    } finally {
      if (pass) breaker.leave(pass, verdict);
      limiter.release();
    }
  };
}

function headersOf(call: Call, token: string, apiKey: string): string[] {
  const headers = ['X-API-Key', apiKey];
  if (token !== NO_TOKEN) headers.push('Access-Token', token);
  if (call.body !== null) headers.push('Content-Type', 'application/json');
  headers.push(...call.headers);
  return headers;
}

function outcomeOf(exchange: Exchange) {
  if (exchange.kind !== 'answered') return exchange.kind;
  return exchange.status < 300 ? 'ok' : 'status';
}

/** Any answer but a 5xx shows that the API is there: a 4xx is about the request. */
function verdictOf(exchange: Exchange): Verdict {
  switch (exchange.kind) {
    case 'answered':
      return exchange.status >= 500 ? 'failing' : 'healthy';
    case 'aborted':
    case 'garbled':
      return 'unclear';
    default:
      return 'failing';
  }
}

function failingFast(call: Call): PartnerUnavailable {
  return new PartnerUnavailable(call.template, 'not asked, since the Partner API is failing there');
}

function quotaUsedUp(call: Call, seconds: number): PartnerRateLimited {
  return new PartnerRateLimited(call.template, 'the daily quota is used up', seconds);
}
