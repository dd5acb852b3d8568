import type { Connection, Edge } from '../../connection/connection.ts';
import type { Context } from '../../context.ts';
import { type PartnerEvent, isSessionEvent } from '../../events/partner-event.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';

/** A record by its kind and id. Rows of a list have their audit name with them. */
export interface AuditedRecord {
  readonly kind: string;
  readonly id: string;
  readonly auditName?: string | undefined;
}

/** A read of one of these is a read of a patient's record. */
const PATIENT_TYPES: Readonly<Record<string, string>> = {
  client: 'Client',
  session: 'Session',
  'magic-edit': 'MagicEdit',
};

/** A denial is audited whatever it is about. */
const TYPES: Readonly<Record<string, string>> = {
  ...PATIENT_TYPES,
  organization: 'Organization',
  clinic: 'Clinic',
  clinician: 'Clinician',
  program: 'Program',
};

/** The name of a patient's record in the audit log; undefined for other records. */
export function auditNameOf(kind: string, id: string): string | undefined {
  const type = PATIENT_TYPES[kind];
  return type && `${type}:${id}`;
}

export function auditRead({ kind, id, auditName }: AuditedRecord, { audit }: Context): void {
  if (!audit) return;
  const name = auditName ?? auditNameOf(kind, id);
  if (name) audit.recordRead(name);
}

export function auditDenial({ kind, id }: AuditedRecord, ctx: Context): void {
  ctx.audit?.recordDenied(`${TYPES[kind] ?? kind}:${id}`);
}

/** Written at once: a subscription that is rejected has no end at which it could be written. */
export function auditDeniedFilter({ kind, id }: AuditedRecord, ctx: Context): void {
  ctx.audit?.writeNow('filter: denied', `${TYPES[kind] ?? kind}:${id}`);
}

export function auditEventRead(event: PartnerEvent, ctx: Context): void {
  ctx.audit?.recordRead(
    isSessionEvent(event) ? `Session:${event.sessionId}` : `AssessmentScore:${event.scoreId}`,
  );
}

export function auditedNodes<T extends AuditedRecord>(
  page: Connection<T>,
  _args: unknown,
  ctx: Context,
): Loaded<readonly T[]> {
  return whenLoaded(page.nodes(), (nodes) => {
    if (ctx.audit) for (const node of nodes) auditRead(node, ctx);
    return nodes;
  });
}

export function auditedNode<T extends AuditedRecord>(
  { node }: Edge<T>,
  _args: unknown,
  ctx: Context,
): T {
  auditRead(node, ctx);
  return node;
}
