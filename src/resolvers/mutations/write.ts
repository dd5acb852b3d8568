import { BadInput, CodedError, NotFound, StoreUnavailable, hasCode } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { isObject } from '../../json.ts';
import { isOther, type writes } from '../../rest/endpoints.ts';
import { PartnerError, PartnerRejected } from '../../rest/errors.ts';
import type { Uuid } from '../../uuid.ts';

export type Missing = { readonly kind: 'missing'; readonly message?: string };
export type Invalid = { readonly kind: 'invalid'; readonly issues: readonly string[] };

/** Expected failures of a change, which a person can act on. */
export type Rejected = Missing | Invalid | { readonly kind: 'locked' };

/** A rejection by the Partner API or by this gateway; any other error is thrown. */
export function rejectionOf(error: unknown): Missing | Invalid {
  if (error instanceof PartnerRejected || error instanceof BadInput) {
    return { kind: 'invalid', issues: error.issues };
  }
  return missingOf(error);
}

function missingOf(error: unknown): Missing {
  if (error instanceof NotFound) return { kind: 'missing', message: error.message };
  if (hasCode(error, 'NOT_FOUND')) return { kind: 'missing' };
  throw error;
}

/** What the Partner API answered. Null if it names another session or client: it must not be shown or stored. */
export function answerAbout(raw: unknown, sessionId?: Uuid, clientId?: Uuid): unknown {
  const names = isObject(raw) ? raw : {};
  const isForeign =
    (sessionId && isOther(names['sessionId'], sessionId)) ||
    (clientId && (isOther(names['clientId'], clientId) || isOther(names['patientId'], clientId)));
  return isForeign ? null : raw;
}

/** A write may not be sent without the store and space for the audit log. */
const nothingSent = (reason: string) =>
  new CodedError('UPSTREAM_UNAVAILABLE', `Nothing was changed: this gateway can’t ${reason}.`);

const AWAIT_EVENT = 'await its progress_note_regenerated event before sending it again';
/** What to do when the outcome is not known. */
const HINTS: Readonly<Record<keyof typeof writes, string>> = {
  magicEdit: AWAIT_EVENT,
  regenerateProgressNote: AWAIT_EVENT,
  updateProgressNote: 'read the note to see',
  assignSecondaryClinicians: 'send it again, which is safe',
  authenticateClinician: 'ask for another pair',
};

/**
 * Makes a change and audits it: one line before anything is sent and one with the outcome, so that a crash in between
 * is visible. A change that can't be audited is not made.
 */
export async function auditedWrite<T extends { readonly kind: string }>(
  action: keyof typeof HINTS,
  record: string,
  ctx: Context,
  write: () => Promise<T | Missing>,
): Promise<T | Missing> {
  if (ctx.audit && ctx.auditProblem()) {
    throw nothingSent('write down who changes what. Try again in some minutes');
  }
  const audit = (outcome: string) => ctx.audit?.writeNow(`${action}: ${outcome}`, record);
  audit('asked for');
  ctx.loaders.clear();
  try {
    const outcome = await write().catch(missingOf);
    audit(outcome.kind === 'missing' ? 'denied' : outcome.kind);
    return outcome;
  } catch (error) {
    const failure = clientErrorOf(error, HINTS[action]);
    audit(failure instanceof CodedError ? failure.code : 'failed');
    throw failure;
  } finally {
    ctx.loaders.clear();
    ctx.seenPages.clear();
    ctx.lookups.clear();
  }
}

/** If the outcome is unknown, the message has the hint for this kind of write. */
function clientErrorOf(error: unknown, hint: string): unknown {
  if (error instanceof StoreUnavailable) {
    return nothingSent('reach its own store. Try again in a moment');
  }
  if (!(error instanceof PartnerError && error.code === 'OUTCOME_UNKNOWN')) return error;
  const message = `No clear answer came: the change may or may not have taken effect, so ${hint}.`;
  return new CodedError('OUTCOME_UNKNOWN', message);
}
