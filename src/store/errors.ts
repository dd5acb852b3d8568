/** Nothing was promised: the write could not be made durable, or the store can't be reached. A retry may succeed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly code = 'STORE_UNAVAILABLE';
}

/**
 * A reader's place is gone: the log was replaced by another one (flushed, restored, failed over to a
 * lagging copy), or trimmed past that place. Going on would skip events silently.
 */
export class LogLost extends Error {
  override readonly name = 'LogLost';
  readonly reason: 'replaced' | 'trimmed';

  constructor(reason: 'replaced' | 'trimmed') {
    super(
      reason === 'replaced'
        ? 'the event log is not the one this position belongs to'
        : 'the event log no longer holds what follows this position',
    );
    this.reason = reason;
  }
}
