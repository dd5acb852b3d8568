import { hasCode } from '../../errors.ts';
import type { Page } from '../../page.ts';
import type { CacheEntry } from '../cache.ts';
import { anotherRecord, authenticate } from '../endpoints.ts';
import { OPERATION_ENDED, PartnerError, PartnerRejected, type PartnerCode } from '../errors.ts';
import type { Partner, Target, Usage } from '../partner.ts';
import type { Breaker } from './breaker.ts';
import { failureOf, jsonOf, verdictOf } from './response.ts';
import { isOutage, nextDelay, type Failure } from './retry.ts';
import { Attempt } from './transport.ts';

/** Time limit for all attempts together. A request that must not be sent again may use all of it for one attempt. */
const CALL_MS = 15_000;

const NO_TOKEN = '';
const NO_TIME = 'no clear answer within 15 s';
export const CALLS_USED = 'the operation has used up its calls';

/**
 * One call to the Partner API with all its attempts: `send` (breaker, token, slot, call limit, quota) → `dispatch` →
 * `finished` → `resolve` or `retryOrFail`. It is sent synchronously if a token and a slot are available.
 */
export class Call {
  isOver = false;
  /** True while it waits for a slot, in the queues of all its operations. */
  isQueued = false;
  readonly target: Target;
  readonly partner: Partner;
  private readonly breaker: Breaker;
  /** The operation that began it. */
  private readonly usage: Usage;
  /** The operations that wait for it. Each has a promise of its own, since each may stop waiting. */
  private waiters: (PromiseWithResolvers<CacheEntry> & { readonly usage: Usage })[] = [];
  private attempt: Attempt | undefined;
  private cancelTimer: (() => void) | undefined;
  /** When the call began. An answer may miss what happened later. */
  readonly requestedAt: number;
  /** When the call must end. Set when it is first sent. */
  private endsAt = 0;
  private readonly failures: Failure[] = [];

  constructor(partner: Partner, target: Target, usage: Usage) {
    this.partner = partner;
    this.target = target;
    this.usage = usage;
    this.requestedAt = partner.clock.now();
    this.breaker = partner.breakerOf(target.endpoint);
    usage.unsent += 1;
  }

  join(usage: Usage): Promise<CacheEntry> {
    const waiter = { usage, ...Promise.withResolvers<CacheEntry>() };
    this.waiters.push(waiter);
    usage.joined.push(this);
    if (this.isQueued) this.partner.limiter.enqueue(this, usage.queue);
    return waiter.promise;
  }

  /** Called again once there is a token, the limiter gives it a slot, or another attempt is due. */
  send({ hasSlot = false } = {}): void {
    const { limiter, tokens } = this.partner;
    const isRefused = this.breaker.refuses();
    const token = this.target.endpoint === authenticate ? NO_TOKEN : tokens.current();
    if (hasSlot && (isRefused || token === undefined)) limiter.release();
    if (isRefused) {
      const what = `not sent, since the circuit is open (last attempt: ${this.breaker.reason})`;
      return this.fail(this.error('UPSTREAM_UNAVAILABLE', what));
    }
    if (token === undefined) return void this.awaitToken();
    if (!hasSlot && !limiter.take()) {
      this.isQueued = true;
      for (const { usage } of this.waiters) limiter.enqueue(this, usage.queue);
      return;
    }
    const problem = this.charge();
    if (!problem) return this.dispatch(token);
    limiter.release();
    this.fail(problem);
  }

  private dispatch(token: string): void {
    const { apiKey, clock, pathPrefix, pool, timeoutMs } = this.partner;
    const { body = null, endpoint, key } = this.target;
    this.breaker.enter(this);
    const headers = ['X-API-Key', apiKey, 'Accept-Encoding', 'identity'];
    if (token !== NO_TOKEN) headers.push('Access-Token', token);
    if (body !== null) headers.push('Content-Type', 'application/json');
    headers.push(...this.usage.traceHeaders);
    const now = clock.now();
    const attempt = new Attempt(this, token, now);
    this.attempt = attempt;
    const leftMs = this.endsAt - now;
    this.setTimer(endpoint.maxAttempts === 1 ? leftMs : Math.min(timeoutMs, leftMs), () =>
      attempt.end(attempt.isSent ? 'timeout' : 'unsent'),
    );
    pool.dispatch({ method: endpoint.method, path: pathPrefix + key, headers, body }, attempt);
  }

  finished(attempt: Attempt): void {
    const { clock, limiter, observer, tokens } = this.partner;
    const { isWrite, method, template: route } = this.target.endpoint;
    const { body, isSuccess, outcome = 'aborted', startedAt, status, token } = attempt;
    this.cancelTimer?.();
    this.attempt = undefined;
    this.breaker.leave(this, verdictOf(attempt));
    // Before the body is parsed, so that the next call is sent sooner.
    if (!attempt.holdsSlot) limiter.release();
    const isAnswered = outcome === 'answered';
    observer.attempt?.({
      method,
      route,
      status: isAnswered ? status : undefined,
      outcome: isSuccess ? 'ok' : isAnswered ? 'status' : outcome,
      durationMs: clock.now() - startedAt,
      traceHeaders: this.usage.traceHeaders,
    });
    const json = isSuccess ? jsonOf(attempt, isWrite) : undefined;
    if (json === undefined) return this.retryOrFail(attempt);
    if (token !== NO_TOKEN) tokens.accepted(token);
    try {
      this.resolve(this.readValue(json), body.length);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The operation has ended early. A write goes on once it is sent: aborting it would only hide its outcome. */
  abandon(usage: Usage): void {
    const { isWrite } = this.target.endpoint;
    if (this.isOver || (isWrite && this.attempt?.isSent)) return;
    if (!isWrite) {
      const leaving = this.waiters.filter((waiter) => waiter.usage === usage);
      this.waiters = this.waiters.filter((waiter) => waiter.usage !== usage);
      // If attempts have failed, the API is the reason why the operation has no answer. A 401 only required a new token.
      const failed = this.failures.findLast(({ kind }) => kind !== 'unauthorized')?.error;
      if (failed) this.report(failed, failed.message, usage);
      for (const { reject } of leaving) reject(failed ?? this.error('TIMEOUT', OPERATION_ENDED));
      if (this.waiters.length > 0) return;
    }
    if (this.attempt) return this.attempt.end('aborted');
    this.fail(this.error('TIMEOUT', OPERATION_ENDED));
  }

  /** The value of the answer, if it is about the requested record. */
  private readValue(json: unknown): unknown {
    const { endpoint, id, listKey, page = 0 } = this.target;
    const { template } = endpoint;
    const { observer } = this.partner;
    const value = endpoint.read(json, id, page);
    if (value === anotherRecord) {
      observer.otherRecord?.(template, this.usage.requestId);
      throw this.error('UPSTREAM_BAD_RESPONSE', 'the answer is about another record');
    }
    if (value === undefined)
      throw this.error('UPSTREAM_BAD_RESPONSE', 'the answer does not have the documented shape');
    if (listKey === undefined) return value;
    const list = value as Page<unknown>;
    const unreadable = list.rows.filter((row) => row === undefined).length;
    if (unreadable > 0) observer.unreadableRows?.(template, unreadable, this.usage.requestId);
    return { ...list, requestedAt: this.requestedAt };
  }

  private resolve(value: unknown, bytes: number): void {
    const { cache, clock } = this.partner;
    const { endpoint, key, listKey, path } = this.target;
    const expiresAt = clock.now() + endpoint.ttlMs(value);
    const invalidatedBy = endpoint.otherPath?.(value) ?? path;
    const validity = { isCurrent: false };
    const { requestedAt } = this;
    const entry: CacheEntry = { key, invalidatedBy, value, requestedAt, expiresAt, validity };
    if (this.partner.detach(this)) {
      if (!listKey || cache.setTotal(listKey, path, (value as Page<unknown>).total, requestedAt))
        cache.set(entry, bytes);
    }
    this.isOver = true;
    for (const { resolve } of this.waiters) resolve(entry);
    this.waiters = [];
    this.cancelTimer = undefined;
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    const { isNullable, isWrite } = this.target.endpoint;
    if (isNullable && hasCode(error, 'NOT_FOUND')) return this.resolve(null, 0);
    this.isOver = true;
    this.isQueued = false;
    if (this.endsAt === 0) this.usage.unsent -= 1;
    this.cancelTimer?.();
    this.partner.detach(this);
    // A lock or a conflict may be the effect of an earlier attempt.
    const isDefinite = !isWrite || error instanceof PartnerRejected || hasCode(error, 'NOT_FOUND');
    const unclear = this.failures.find((each) => each.mayHaveTakenEffect && !isDefinite)?.error;
    const failure = unclear ? this.error('OUTCOME_UNKNOWN', 'no clear answer came') : error;
    if (failure instanceof PartnerError)
      this.report(failure, (unclear ?? failure).message, this.usage);
    for (const { reject } of this.waiters) reject(failure);
  }

  private report({ code }: PartnerError, reason: string, { requestId }: Usage): void {
    const { template: route } = this.target.endpoint;
    this.partner.observer.failed?.({ code, reason, route, requestId });
  }

  private async awaitToken(): Promise<void> {
    try {
      await this.partner.tokens.obtain();
    } catch (error) {
      return this.fail(error);
    }
    if (!this.isOver) this.send();
  }

  /** Counts an attempt for its operation and the daily quota. Returns an error if it may not be made. */
  private charge(): PartnerError | undefined {
    const now = this.partner.clock.now();
    if (this.endsAt === 0) this.usage.unsent -= 1;
    this.endsAt ||= now + CALL_MS;
    if (now >= this.endsAt) return this.error('UPSTREAM_UNAVAILABLE', NO_TIME);
    // The first operation that is below its limit is charged.
    const charged = this.waiters.find(({ usage }) => usage.calls < usage.maxCalls)?.usage;
    if (!charged) return this.error('QUERY_TOO_EXPENSIVE', CALLS_USED);
    // The request for a token is exempt: without one the gateway is not ready, and gets no webhooks until tomorrow.
    const seconds = this.partner.limiter.spend(this.target.endpoint === authenticate);
    if (seconds !== undefined)
      return this.error('UPSTREAM_RATE_LIMITED', 'the daily quota is used up', seconds);
    charged.calls += 1;
    if (this.failures.length > 0) charged.retried += 1;
    return undefined;
  }

  private retryOrFail(attempt: Attempt): void {
    const { budget, clock, pool, random, tokens } = this.partner;
    const { isWrite, maxAttempts, template } = this.target.endpoint;
    const failure = failureOf(template, attempt, clock.wallNow());
    const had401 = this.failures.some(({ kind }) => kind === 'unauthorized');
    this.failures.push(failure);
    if (isOutage(failure)) this.breaker.reason = failure.error.what;
    if (attempt.token !== NO_TOKEN) tokens.failed(attempt.token, failure, had401);

    const delayMs = nextDelay(this.failures, maxAttempts, this.endsAt - clock.now(), random);
    // After a 401 only a newer token helps, and the request for a token is sent without one.
    const isSameToken = attempt.token === NO_TOKEN || attempt.token === tokens.current();
    if (delayMs === null || (failure.kind === 'unauthorized' && isSameToken))
      return this.fail(failure.error);
    // The operations may have ended since the answer came.
    if (isWrite && this.usage.isOver) return this.fail(this.error('TIMEOUT', OPERATION_ENDED));
    if (this.waiters.length === 0 || pool.destroyed) return this.fail(failure.error);
    if (isOutage(failure) && !budget.withdraw()) return this.fail(failure.error);
    const again = () => {
      // It may have to wait for a token or a slot, but not for longer than the call may take.
      const end = () => this.fail(this.error('UPSTREAM_UNAVAILABLE', NO_TIME));
      this.setTimer(this.endsAt - clock.now(), end);
      this.send();
    };
    if (delayMs === 0) return again();
    this.setTimer(delayMs, again);
  }

  private error(code: PartnerCode, what: string, retryAfter?: number): PartnerError {
    return new PartnerError(code, this.target.endpoint.template, what, retryAfter);
  }

  private setTimer(ms: number, run: () => void): void {
    this.cancelTimer?.();
    // The event loop may have been busy until after that time.
    this.cancelTimer = this.partner.clock.after(Math.max(0, ms), run);
  }
}
