/** What a client missed is gone: it reads its data anew and subscribes after `oldestCursor`, or live. */
export class EventsExpired extends Error {
  readonly code = 'EVENTS_EXPIRED';
  /** The earliest cursor that the log can still be read from. */
  readonly oldestCursor: string;

  constructor(oldestCursor: string) {
    super('the event log no longer reaches back to this cursor');
    this.name = 'EventsExpired';
    this.oldestCursor = oldestCursor;
  }
}

export class BadCursor extends Error {
  readonly code = 'BAD_USER_INPUT';
  readonly issues: readonly string[];

  constructor() {
    super('the event cursor is not one that was made here');
    this.name = 'BadCursor';
    this.issues = ['after must be an event cursor as it was handed out, but got something else'];
  }
}
