import type { Context } from '../../context.ts';
import { type PartnerEvent, isSessionEvent } from '../../events/partner-event.ts';

/** A record by its type and id. Rows of a list have their audit name with them. */
export interface AuditedRecord {
  readonly type: string;
  readonly id: string;
  readonly auditName?: string | undefined;
}

/** A read of one of these is a read of a patient's record. */
const PATIENT_TYPES: ReadonlySet<string> = new Set(['Client', 'Session', 'MagicEdit']);

/** The name of a patient's record in the audit log; undefined for other records. */
export const auditNameOf = (type: string, id: string): string | undefined =>
  PATIENT_TYPES.has(type) ? `${type}:${id}` : undefined;

/** Audits a read of the record, and returns it. */
export function auditRead<R extends AuditedRecord>(record: R, { audit }: Context): R {
  const name = audit && (record.auditName ?? auditNameOf(record.type, record.id));
  if (name) audit.read.add(name);
  return record;
}

/** Every type is audited except assessments, which are questionnaires. */
export function auditDenial({ type, id }: AuditedRecord, ctx: Context): void {
  if (type !== 'Assessment') ctx.audit?.denied.add(`${type}:${id}`);
}

export function auditEventRead(event: PartnerEvent, ctx: Context): void {
  ctx.audit?.read.add(
    isSessionEvent(event) ? `Session:${event.sessionId}` : `AssessmentScore:${event.scoreId}`,
  );
}
