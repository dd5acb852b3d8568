import { CodedError } from '../errors.ts';

export type PartnerCode =
  /** The API failed, timed out, or is known to be failing: the same request may succeed later. */
  | 'UPSTREAM_UNAVAILABLE'
  /** Too many calls: a 429 that can't be waited out, or our own daily quota used up. */
  | 'UPSTREAM_RATE_LIMITED'
  /** An answer with an unknown shape: our types are wrong, or a proxy answered. */
  | 'UPSTREAM_BAD_RESPONSE'
  /** The API key or the partner's credentials are refused: an operator must act. */
  | 'UPSTREAM_CREDENTIALS'
  /** The API's gateway has no such route: the base URL is wrong, or the route is gone. */
  | 'UPSTREAM_ROUTE'
  /** The record does not exist or is not the partner's: the API does not distinguish the two. */
  | 'NOT_FOUND'
  /** The input is wrong, or contradicts the record's present state. */
  | 'BAD_USER_INPUT'
  /** A write was sent and its outcome is unknown: it must not be sent again automatically. */
  | 'OUTCOME_UNKNOWN'
  /** The operation has made as many calls as it may. */
  | 'QUERY_TOO_EXPENSIVE'
  /** The operation's client has disconnected, or its time is over. */
  | 'TIMEOUT';

export const OPERATION_ENDED = 'the operation ended before the answer came';

/** May be logged: it names the route's template, and no URL, body, id or `cause`, which can all carry patient data. */
export class PartnerError extends CodedError {
  readonly what: string;
  /** For a rate limit: the seconds to wait, as in the `Retry-After` header. */
  readonly retryAfter: number | undefined;

  constructor(code: PartnerCode, route: string, what: string, retryAfter?: number) {
    super(code, `${route}: ${what}`);
    this.what = what;
    this.retryAfter = retryAfter;
  }
}

/** The input is wrong. `issues` are the API's own words, cut, for the caller alone and never for a log. */
export class PartnerRejected extends PartnerError {
  readonly issues: readonly string[];

  constructor(route: string, issues: readonly string[]) {
    const what = `the Partner API rejected the input with ${issues.length} issue(s)`;
    super('BAD_USER_INPUT', route, what);
    this.issues = issues.slice(0, 20).map((issue) => issue.slice(0, 500).toWellFormed());
  }
}

/** The request contradicts the record's present state. The API's message is not kept: it may name a patient. */
export class PartnerConflict extends PartnerError {}

/** The progress note is finalized and can't be changed. */
export class NoteLocked extends PartnerError {}
