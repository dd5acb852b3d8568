import { OutcomeUnknown } from '../rest/errors.ts';
import { StoreUnavailable } from '../store/errors.ts';

/** A write was sent, and it is not known whether it took effect. What to do then differs from write to write. */
export class WriteOutcomeUnknown extends Error {
  override readonly name = 'WriteOutcomeUnknown';
  readonly code = 'OUTCOME_UNKNOWN';

  constructor(hint: string) {
    super(`No clear answer came: the change may or may not have taken effect, so ${hint}.`);
  }
}

/** Without its store the gateway can't keep a change from being sent twice. */
export class NothingSent extends Error {
  override readonly name = 'NothingSent';
  readonly code = 'UPSTREAM_UNAVAILABLE';

  constructor() {
    super('Nothing was changed: this gateway can’t reach its own store. Try again in a moment.');
  }
}

/** A write's failures as its caller should read them. The store may only be needed before the write is sent. */
export async function withWriteErrors<T>(hint: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new NothingSent();
    if (error instanceof OutcomeUnknown) throw new WriteOutcomeUnknown(hint);
    throw error;
  }
}
