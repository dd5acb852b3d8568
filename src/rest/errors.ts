import { CodedError } from '../errors.ts';

/**
 * One class per reaction. Messages may be logged: they name the route's template and never the URL, a body
 * or an id, which can all carry patient data. For the same reason there is no `cause`.
 */
export abstract class PartnerError extends CodedError {
  readonly what: string;

  constructor(route: string, what: string) {
    super(`${route}: ${what}`);
    this.what = what;
  }
}

/** The API failed, timed out, or is known to be failing: the same request may succeed later. */
export class PartnerUnavailable extends PartnerError {
  readonly code = 'UPSTREAM_UNAVAILABLE';
}

/** Too many calls: a 429 that can't be waited out, or our own daily quota used up. */
export class PartnerRateLimited extends PartnerError {
  readonly code = 'UPSTREAM_RATE_LIMITED';
  /** Seconds, as in the header of that name. */
  readonly retryAfter: number;

  constructor(route: string, what: string, retryAfter: number) {
    super(route, what);
    this.retryAfter = retryAfter;
  }
}

/** An answer with an unknown shape: our types are wrong, or a proxy answered. */
export class PartnerContractBroken extends PartnerError {
  readonly code = 'UPSTREAM_BAD_RESPONSE';
}

/** The API key or the partner's credentials are refused: an operator must act. */
export class PartnerCredentialsRefused extends PartnerError {
  readonly code = 'UPSTREAM_CREDENTIALS';
}

/** The API's gateway has no such route: the base URL is wrong, or the route is gone. */
export class PartnerRouteMissing extends PartnerError {
  readonly code = 'UPSTREAM_ROUTE';
}

/** The record does not exist or is not the partner's: the API does not distinguish the two. */
export class PartnerNotFound extends PartnerError {
  readonly code = 'NOT_FOUND';
}

/** The API's messages are passed on up to this number and length. */
const MAX_ISSUES = 20;
const MAX_ISSUE_CHARACTERS = 500;

/** The input is wrong. `issues` are the API's own words, for the caller alone and never for a log. */
export class PartnerRejected extends PartnerError {
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor(route: string, issues: readonly string[]) {
    super(route, `the Partner API rejected the input with ${issues.length} issue(s)`);
    this.issues = issues
      .slice(0, MAX_ISSUES)
      .map((issue) => issue.slice(0, MAX_ISSUE_CHARACTERS).toWellFormed());
  }
}

/** The request contradicts the record's present state. The API's message is not kept: it may name a patient. */
export class PartnerConflict extends PartnerError {
  readonly code = 'BAD_USER_INPUT';
}

/** The progress note is finalized and can't be changed. */
export class NoteLocked extends PartnerError {
  readonly code = 'BAD_USER_INPUT';
}

/** A write was sent and its outcome is unknown: it must not be sent again automatically. */
export class OutcomeUnknown extends PartnerError {
  readonly code = 'OUTCOME_UNKNOWN';
}

/** The operation has made as many calls as it may. */
export class CallBudgetExhausted extends PartnerError {
  readonly code = 'QUERY_TOO_EXPENSIVE';
}

/** The operation's client has disconnected, or its time is over. */
export class OperationAborted extends PartnerError {
  readonly code = 'TIMEOUT';

  constructor(route: string) {
    super(route, 'the operation ended before the answer came');
  }
}
