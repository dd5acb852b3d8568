import type { Pool } from 'undici';
import type { Clock } from '../clock.ts';
import type { CallKind } from '../endpoints.ts';
import {
  CallBudgetExhausted,
  OperationAborted,
  OutcomeUnknown,
  PartnerError,
  PartnerRateLimited,
  PartnerUnavailable,
} from '../errors.ts';
import type { PartnerObserver } from '../observer.ts';
import type { Usage } from '../usage.ts';
import { breakerOf } from './breaker.ts';
import type { Breaker, Pass } from './breaker.ts';
import { createCallQueue } from './limiter.ts';
import type { CallQueue, Limiter, QueuedCall } from './limiter.ts';
import { isAcceptance, jsonOf, notJson, problemOf, verdictOf } from './response.ts';
import type { Problem } from './response.ts';
import { count, drawsOnBudget, nextDelay } from './retry.ts';
import type { RetryBudget, Tally } from './retry.ts';
import type { Tokens } from './token.ts';
import { Attempt } from './transport.ts';
import { Waiters } from './waiters.ts';

/** What all calls share. */
export interface CallParts {
  readonly pool: Pool;
  readonly limiter: Limiter;
  readonly breakers: Map<string, Breaker>;
  readonly tokens: Tokens;
  readonly budget: RetryBudget;
  readonly clock: Clock;
  readonly observer: PartnerObserver;
  readonly random: () => number;
  readonly apiKey: string;
  /** What the base URL has after its host. */
  readonly pathPrefix: string;
  /** An attempt that may be repeated. */
  readonly timeoutMs: number;
  /** Set while the API's gateway refuses our key: a token can be good while every call is refused. */
  keyRefused: { readonly error: PartnerError; readonly at: number } | undefined;
}

/** All attempts together, from the first on; what must not be repeated gets all of it for its one attempt. */
const CALL_MS = 15_000;

const NO_TOKEN = '';

/** These say what became of a write even if an earlier attempt of it ended unclearly. */
const DEFINITE: ReadonlySet<string> = new Set(['BAD_USER_INPUT', 'NOT_FOUND']);

/**
 * One call to the Partner API, with as many attempts as it takes, and all who wait for it: start → slot, token, breaker
 * → send → finished → done, or start again later. While nothing has to be waited for, there is no promise within.
 */
export class Call implements QueuedCall {
  isOver = false;
  readonly queue: CallQueue;
  protected readonly parts: CallParts;
  private readonly kind: CallKind;
  private readonly path: string;
  private readonly body: string | null;
  private readonly traceHeaders: readonly string[];
  private readonly breaker: Breaker;
  private readonly waiters = new Waiters(this);
  private attempt: Attempt | undefined;
  private pass: Pass = 'ordinary';
  private token = NO_TOKEN;
  private startedAt = 0;
  /** When the call must end. Set once its first turn has come. */
  private endsAt = 0;
  private stopTimer: (() => void) | undefined;
  private tally: Tally | undefined;
  private isUnclear = false;
  private isAborted = false;

  /** `path` with its query. */
  constructor(
    parts: CallParts,
    kind: CallKind,
    path: string,
    body: string | null,
    usage: Usage | undefined,
  ) {
    this.parts = parts;
    this.kind = kind;
    this.path = path;
    this.body = body;
    this.queue = usage && !kind.isWrite ? usage.queue : createCallQueue(usage ? 'write' : 'token');
    this.traceHeaders = usage?.traceHeaders ?? [];
    this.breaker = breakerOf(parts, kind.template);
  }

  /** Resolves with what `resultOf` makes of the answer. */
  wait(usage: Usage | undefined): Promise<unknown> {
    return this.waiters.add(usage);
  }

  /** The operation has ended early. A write goes on once it is sent: cutting it off would only hide its outcome. */
  abandon(usage: Usage): void {
    const { isWrite, template } = this.kind;
    if (!isWrite) this.waiters.rejectOf(usage, new OperationAborted(template));
    if (isWrite || this.waiters.isEmpty) this.abort();
  }

  /** `json` is undefined if a write's answer is no JSON: what it says is not documented anyway. May throw. */
  protected resultOf(json: unknown, _bytes: number): unknown {
    return json;
  }

  /** The result in place of an error, or undefined. */
  protected resultInsteadOf(_error: unknown): unknown {
    return undefined;
  }

  /** It is over, one way or the other. */
  protected ended(): void {}

  start(): void {
    const { limiter, tokens } = this.parts;
    if (this.breaker.refuses()) return this.fail(failingFast(this.kind));
    if (this.kind.isAuthorized && tokens.current() === undefined) return void this.awaitToken();
    if (limiter.take(this)) this.send();
  }

  /** With a slot held, and the token as it is now rather than when the wait began. */
  send(): void {
    const { clock, limiter, tokens } = this.parts;
    const { isAuthorized, repeat } = this.kind;
    const token = isAuthorized ? tokens.current() : NO_TOKEN;
    if (token === undefined) {
      limiter.release();
      return this.start();
    }
    const pass = this.breaker.enter();
    const now = clock.now();
    if (this.endsAt === 0) this.endsAt = now + CALL_MS;
    const refusal = pass ? this.refusal(this.endsAt - now) : failingFast(this.kind);
    if (!pass || refusal) {
      if (pass) this.breaker.leave(pass, 'unclear');
      limiter.release();
      return this.fail(refusal);
    }
    const leftMs = this.endsAt - now;
    const timeoutMs = repeat === 'never' ? leftMs : Math.min(this.parts.timeoutMs, leftMs);
    this.pass = pass;
    this.token = token;
    this.startedAt = now;
    const attempt = new Attempt(this);
    this.attempt = attempt;
    this.stopTimer = clock.after(timeoutMs, () =>
      attempt.end(attempt.isSent ? 'timeout' : 'unsent'),
    );
    this.dispatch(attempt, token);
  }

  finished(attempt: Attempt): void {
    this.stopTimer?.();
    this.stopTimer = undefined;
    this.attempt = undefined;
    this.breaker.leave(this.pass, verdictOf(attempt));
    // Whoever waits is sent before this answer is read.
    this.parts.limiter.release();
    this.observe(attempt);
    if (attempt.outcome !== 'answered' || attempt.status < 200 || attempt.status >= 300) {
      return this.recover(attempt);
    }
    const json = jsonOf(attempt);
    if (json === notJson && !(this.kind.isWrite && isAcceptance(attempt))) {
      return this.recover(attempt);
    }
    this.accepted();
    try {
      this.resolve(this.resultOf(json === notJson ? undefined : json, attempt.body.length));
    } catch (error) {
      this.fail(error);
    }
  }

  private resolve(result: unknown): void {
    this.isOver = true;
    this.ended();
    this.waiters.resolve(result);
  }

  private fail(given: unknown): void {
    if (this.isOver) return;
    const instead = this.resultInsteadOf(given);
    if (instead !== undefined) return this.resolve(instead);
    this.isOver = true;
    this.ended();
    const isDefinite = given instanceof PartnerError && DEFINITE.has(given.code);
    const isUnknown = this.kind.isWrite && this.isUnclear && !isDefinite;
    this.waiters.reject(isUnknown ? new OutcomeUnknown(this.kind.template) : given);
  }

  private abort(): void {
    this.isAborted = true;
    if (this.isOver || (this.kind.isWrite && this.attempt?.isSent)) return;
    if (this.attempt) return this.attempt.end('aborted');
    this.stopTimer?.();
    this.fail(new OperationAborted(this.kind.template));
  }

  private async awaitToken(): Promise<void> {
    try {
      await this.parts.tokens.obtain();
    } catch (error) {
      return this.fail(error);
    }
    if (!this.isOver) this.start();
  }

  /** Why an attempt can't be made, although there is a slot. */
  private refusal(leftMs: number): PartnerError | undefined {
    const { template } = this.kind;
    if (leftMs <= 0) return new PartnerUnavailable(template, 'no clear answer within 15 s');
    if (!this.waiters.pay(this.tally !== undefined)) {
      return new CallBudgetExhausted(template, this.waiters.maxCalls);
    }
    const seconds = this.parts.limiter.spend();
    if (seconds === undefined) return undefined;
    return new PartnerRateLimited(template, 'the daily quota is used up', seconds);
  }

  private dispatch(attempt: Attempt, token: string): void {
    const { apiKey, pathPrefix, pool } = this.parts;
    const { body, traceHeaders } = this;
    const headers = ['X-API-Key', apiKey];
    if (token !== NO_TOKEN) headers.push('Access-Token', token);
    if (body !== null) headers.push('Content-Type', 'application/json');
    if (traceHeaders.length > 0) headers.push(...traceHeaders);
    const path = pathPrefix + this.path;
    pool.dispatch({ method: this.kind.method, path, headers, body }, attempt);
  }

  /** After an attempt that did not bring what was wanted: another one, or the end. */
  private recover(attempt: Attempt): void {
    const { budget, clock, random } = this.parts;
    const { isAuthorized, repeat, template } = this.kind;
    const problem = problemOf(template, attempt, clock.wallNow());
    const { error, failure } = problem;
    this.learn(attempt, problem);
    this.isUnclear ||= problem.isUnclear;
    if (!failure) return this.fail(error);

    this.tally ??= { failed: 0, unauthorized: 0, throttled: 0 };
    count(failure, this.tally);
    const delayMs = nextDelay(failure, this.tally, repeat, this.endsAt - clock.now(), random);
    // Whoever is refused while asking for a token has no newer one to try.
    const isHopeless = !isAuthorized && failure.kind === 'status' && failure.status === 401;
    if (delayMs === null || isHopeless) return this.fail(error);
    if (drawsOnBudget(failure) && !budget.withdraw()) return this.fail(error);
    if (this.isAborted) return this.fail(new OperationAborted(template));
    if (delayMs === 0) return this.start();
    this.stopTimer = clock.after(delayMs, () => {
      this.stopTimer = undefined;
      this.start();
    });
  }

  /** What an answer says of the token and the API key. */
  private learn(attempt: Attempt, { error, isTokenDoubtful }: Problem): void {
    const { clock, tokens } = this.parts;
    if (this.token === NO_TOKEN || attempt.outcome !== 'answered') return;
    const { status } = attempt;
    if (status === 401) tokens.refused(this.token);
    else if (status === 400 || status === 404 || status === 409) this.accepted();
    else if (isTokenDoubtful) tokens.distrusted(this.token);
    else if (status === 403 && error.code === 'UPSTREAM_CREDENTIALS') {
      this.parts.keyRefused = { error, at: clock.now() };
    }
  }

  private accepted(): void {
    if (this.token === NO_TOKEN) return;
    this.parts.tokens.accepted(this.token);
    this.parts.keyRefused = undefined;
  }

  private observe({ outcome = 'aborted', status }: Attempt): void {
    const isOk = status < 300 ? 'ok' : 'status';
    this.parts.observer.attempt?.({
      method: this.kind.method,
      route: this.kind.template,
      status: outcome === 'answered' ? status : undefined,
      outcome: outcome === 'answered' ? isOk : outcome,
      durationMs: this.parts.clock.now() - this.startedAt,
      traceHeaders: this.traceHeaders,
    });
  }
}

const failingFast = ({ template }: CallKind): PartnerUnavailable =>
  new PartnerUnavailable(template, 'not asked, since the Partner API is failing there');
