/** What `rest` tells whoever keeps the metrics and the log. Templates, counts and codes only. */
export interface PartnerObserver {
  /** One HTTP attempt ended. `outcome` is `ok`, `status` (4xx, 5xx) or why there was no answer. */
  attempt?(attempt: ObservedAttempt): void;
  /** A row of a list, or a list's page, could not be understood in part. */
  unreadableRows?(route: string, count: number, requestId?: string): void;
  /** An answer named another record than the one asked for, and was dropped. */
  otherRecord?(route: string, requestId?: string): void;
  breakerChanged?(state: 'closed' | 'open' | 'half-open', route: string): void;
  tokenRenewed?(): void;
  /** A background renewal failed; the present token goes on being used. */
  tokenRenewalFailed?(code: string): void;
}

export interface ObservedAttempt {
  readonly method: string;
  readonly route: string;
  readonly status: number | undefined;
  readonly outcome:
    | 'ok'
    | 'status'
    | 'unsent'
    | 'timeout'
    | 'reset'
    | 'cut'
    | 'garbled'
    | 'aborted';
  readonly durationMs: number;
  /** Those that say which trace it belongs to: name, value, name, value. */
  readonly traceHeaders: readonly string[];
}
