import { OutcomeUnknown } from '../rest/errors.ts';
import { StoreUnavailable } from '../store/errors.ts';

/** A write was sent and nobody can say what came of it. What to do then differs from write to write. */
export class Unclear extends Error {
  override readonly name = 'Unclear';
  readonly code = 'OUTCOME_UNKNOWN';

  constructor(whatToDo: string) {
    super(`No clear answer came: the change may or may not have taken effect, so ${whatToDo}.`);
  }
}

/** This gateway's own store is down, without which a change can be neither proven to be the viewer's nor kept single. */
export class NothingSent extends Error {
  override readonly name = 'NothingSent';
  readonly code = 'UPSTREAM_UNAVAILABLE';

  constructor() {
    super('Nothing was changed: this gateway can’t reach its own store. Try again in a moment.');
  }
}

/** A write's failures in words for its caller. The store may only be needed before the write is sent. */
export async function told<T>(whatToDo: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw new NothingSent();
    if (error instanceof OutcomeUnknown) throw new Unclear(whatToDo);
    throw error;
  }
}
