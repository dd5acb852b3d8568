import type { Route } from '../endpoints.ts';
import {
  CallBudgetExhausted,
  OperationAborted,
  OutcomeUnknown,
  PartnerError,
  PartnerRateLimited,
  PartnerUnavailable,
} from '../errors.ts';
import type { Usage } from '../usage.ts';
import type { Breaker } from './breaker.ts';
import type { Client } from './client.ts';
import type { CallQueue, QueuedCall } from './limiter.ts';
import { failureOf, isAcceptance, jsonOf, notJson, verdictOf } from './response.ts';
import { isOutage, nextDelay } from './retry.ts';
import type { Failure } from './retry.ts';
import { Attempt } from './transport.ts';

/** All attempts together, from the first on; what must not be repeated gets all of it for its one attempt. */
const CALL_MS = 15_000;

const NO_TOKEN = '';

/** These say what became of a write even if an earlier attempt of it ended unclearly. */
const DEFINITE: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'NOT_FOUND']);

/** An operation that waits for the call. Each has a promise of its own, since each may leave alone. */
interface Waiter {
  readonly usage: Usage;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One call to the Partner API with all its attempts: start → token, slot, breaker → send → finished → resolve, or
 * recover: fail, or start again later. Synchronous while nothing has to be waited for.
 */
export class Call implements QueuedCall {
  isOver = false;
  readonly queue: CallQueue;
  protected readonly client: Client;
  private readonly route: Route;
  private readonly path: string;
  private readonly body: string | null;
  private readonly traceHeaders: readonly string[];
  private readonly breaker: Breaker;
  private waiters: Waiter[] = [];
  private attempt: Attempt | undefined;
  /** When the call must end. Set when it is first sent. */
  private endsAt = 0;
  private cancelRetry: (() => void) | undefined;
  private readonly failures: Failure[] = [];
  private isAbandoned = false;

  /** `path` with its query. */
  constructor(client: Client, route: Route, path: string, body: string | null, usage: Usage) {
    this.client = client;
    this.route = route;
    this.path = path;
    this.body = body;
    this.queue = usage.queue;
    this.traceHeaders = usage.traceHeaders;
    this.breaker = client.breakerOf(route.template);
  }

  /** Resolves with what `resultOf` makes of the answer. */
  wait(usage: Usage): Promise<unknown> {
    usage.pending.add(this);
    return new Promise((resolve, reject) => {
      this.waiters.push({ usage, resolve, reject });
    });
  }

  /** The operation has ended early. A write goes on once it is sent: aborting it would only hide its outcome. */
  abandon(usage: Usage): void {
    const { isWrite, template } = this.route;
    if (!isWrite) {
      const leaving = this.waiters.filter((waiter) => waiter.usage === usage);
      this.waiters = this.waiters.filter((waiter) => waiter.usage !== usage);
      for (const { reject } of leaving) reject(new OperationAborted(template));
      if (this.waiters.length > 0) return;
    }
    this.isAbandoned = true;
    if (this.isOver || (isWrite && this.attempt?.isSent)) return;
    if (this.attempt) return this.attempt.end('aborted');
    this.cancelRetry?.();
    this.fail(new OperationAborted(template));
  }

  /** `json` is undefined if a write's answer is not JSON: its body is not documented anyway. May throw. */
  protected resultOf(json: unknown, _bytes: number): unknown {
    return json;
  }

  /** The result in place of an error, or undefined. */
  protected resultInsteadOf(_error: unknown): unknown {
    return undefined;
  }

  protected ended(): void {}

  start(): void {
    const { limiter, tokens } = this.client;
    if (this.breaker.refuses()) return this.fail(this.failFastError());
    if (this.route.isAuthorized && tokens.current() === undefined) return void this.awaitToken();
    if (limiter.take(this)) this.send();
  }

  /** With a slot held. */
  send(): void {
    const { clock, deadlines, limiter, timeoutMs, tokens } = this.client;
    // The token may have changed while the call was queued.
    const token = this.route.isAuthorized ? tokens.current() : NO_TOKEN;
    if (token === undefined) {
      limiter.release();
      return this.start();
    }
    const now = clock.now();
    if (this.endsAt === 0) this.endsAt = now + CALL_MS;
    const leftMs = this.endsAt - now;
    const refusal = this.refusal(leftMs);
    if (refusal) {
      limiter.release();
      return this.fail(refusal);
    }
    this.breaker.enter(this);
    const attemptMs = this.route.repeat === 'never' ? leftMs : Math.min(timeoutMs, leftMs);
    this.attempt = new Attempt(this, token, now, now + attemptMs);
    deadlines.add(this.attempt);
    this.dispatch(this.attempt);
  }

  finished(attempt: Attempt): void {
    const { client, route } = this;
    const { body, outcome, status } = attempt;
    client.deadlines.delete(attempt);
    this.attempt = undefined;
    this.breaker.leave(this, verdictOf(attempt));
    // The next call is sent before this answer is read.
    client.limiter.release();
    this.observe(attempt);
    if (outcome !== 'answered' || status < 200 || status >= 300) return this.recover(attempt);
    const json = jsonOf(attempt);
    if (json === notJson && !(route.isWrite && isAcceptance(attempt))) return this.recover(attempt);
    this.credentialsAccepted(attempt.token);
    try {
      this.resolve(this.resultOf(json === notJson ? undefined : json, body.length));
    } catch (error) {
      this.fail(error);
    }
  }

  private resolve(result: unknown): void {
    this.isOver = true;
    this.ended();
    for (const { usage, resolve } of this.waiters) {
      usage.pending.delete(this);
      resolve(result);
    }
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    const instead = this.resultInsteadOf(error);
    if (instead !== undefined) return this.resolve(instead);
    this.isOver = true;
    this.ended();
    const isDefinite = error instanceof PartnerError && DEFINITE.has(error.code);
    const isUnclear = this.failures.some((failure) => failure.isUnclear);
    const isUnknown = this.route.isWrite && isUnclear && !isDefinite;
    for (const { usage, reject } of this.waiters) {
      usage.pending.delete(this);
      reject(isUnknown ? new OutcomeUnknown(this.route.template) : error);
    }
  }

  private async awaitToken(): Promise<void> {
    try {
      await this.client.tokens.obtain();
    } catch (error) {
      return this.fail(error);
    }
    if (!this.isOver) this.start();
  }

  /** Why an attempt can't be made, although there is a slot. */
  private refusal(leftMs: number): PartnerError | undefined {
    const { template } = this.route;
    if (leftMs <= 0) return new PartnerUnavailable(template, 'no clear answer within 15 s');
    if (this.breaker.refuses()) return this.failFastError();
    // The first that still can pays for the attempt.
    const payer = this.waiters.find(({ usage }) => usage.calls < usage.maxCalls)?.usage;
    if (!payer) return new CallBudgetExhausted(template, this.waiters[0]?.usage.maxCalls ?? 0);
    payer.calls += 1;
    if (this.failures.length > 0) payer.retried += 1;
    const seconds = this.client.limiter.spend();
    if (seconds === undefined) return undefined;
    return new PartnerRateLimited(template, 'the daily quota is used up', seconds);
  }

  private failFastError(): PartnerError {
    return new PartnerUnavailable(this.route.template, 'not sent, since the circuit is open');
  }

  private dispatch(attempt: Attempt): void {
    const { apiKey, pathPrefix, pool } = this.client;
    const { body, traceHeaders } = this;
    const headers = ['X-API-Key', apiKey];
    if (attempt.token !== NO_TOKEN) headers.push('Access-Token', attempt.token);
    if (body !== null) headers.push('Content-Type', 'application/json');
    if (traceHeaders.length > 0) headers.push(...traceHeaders);
    const path = pathPrefix + this.path;
    pool.dispatch({ method: this.route.method, path, headers, body }, attempt);
  }

  /** After an attempt that failed: another one, or the end. */
  private recover(attempt: Attempt): void {
    const { budget, clock, random } = this.client;
    const { isAuthorized, repeat, template } = this.route;
    const failure = failureOf(template, attempt, clock.wallNow());
    this.failures.push(failure);
    if (attempt.token !== NO_TOKEN) this.checkCredentials(attempt, failure);

    const delayMs = nextDelay(this.failures, repeat, this.endsAt - clock.now(), random);
    // The request for a token has no newer token to try.
    const isHopeless = failure.kind === 'unauthorized' && !isAuthorized;
    if (delayMs === null || isHopeless) return this.fail(failure.error);
    if (isOutage(failure) && !budget.withdraw()) return this.fail(failure.error);
    if (this.isAbandoned) return this.fail(new OperationAborted(template));
    if (delayMs === 0) return this.start();
    this.cancelRetry = clock.after(delayMs, () => this.start());
  }

  /** What a failure says about the token and the API key. */
  private checkCredentials({ status, token }: Attempt, { error, kind, refused }: Failure): void {
    const { clock, tokens } = this.client;
    if (kind === 'unauthorized') tokens.refused(token);
    else if (refused === 'token') tokens.distrusted(token);
    else if (refused === 'api-key') this.client.keyRefused = { error, at: clock.now() };
    else if (status === 400 || status === 404 || status === 409) this.credentialsAccepted(token);
  }

  private credentialsAccepted(token: string): void {
    if (token === NO_TOKEN) return;
    this.client.tokens.accepted(token);
    this.client.keyRefused = undefined;
  }

  private observe({ outcome = 'aborted', startedAt, status }: Attempt): void {
    const isAnswered = outcome === 'answered';
    this.client.observer.attempt?.({
      method: this.route.method,
      route: this.route.template,
      status: isAnswered ? status : undefined,
      outcome: isAnswered ? (status < 300 ? 'ok' : 'status') : outcome,
      durationMs: this.client.clock.now() - startedAt,
      traceHeaders: this.traceHeaders,
    });
  }
}
