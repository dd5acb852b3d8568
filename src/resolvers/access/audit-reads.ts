import type { Connection, Edge } from '../../connection/connection.ts';
import type { Context } from '../../context.ts';
import { type PartnerEvent, isSessionEvent } from '../../events/partner-event.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';

/** Anything that has a kind and an id. */
export interface Named {
  readonly kind: string;
  readonly id: string;
}

/** Reading one of these is reading a patient's record. */
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

export function saw({ kind, id }: Named, ctx: Context): void {
  const type = ctx.audit && PATIENT_TYPES[kind];
  if (type) ctx.audit.saw(`${type}:${id}`);
}

export function missed({ kind, id }: Named, ctx: Context): void {
  ctx.audit?.missed(`${TYPES[kind] ?? kind}:${id}`);
}

/** Written at once: a subscription that is refused has no end at which it could be. */
export function deniedFilter({ kind, id }: Named, ctx: Context): void {
  ctx.audit?.did('filter: denied', `${TYPES[kind] ?? kind}:${id}`);
}

export function sawEvent(event: PartnerEvent, ctx: Context): void {
  ctx.audit?.saw(
    isSessionEvent(event) ? `Session:${event.sessionId}` : `AssessmentScore:${event.scoreId}`,
  );
}

export function auditedNodes<T extends Named>(
  window: Connection<T>,
  _args: unknown,
  ctx: Context,
): Loaded<readonly T[]> {
  return whenLoaded(window.nodes(), (nodes) => {
    if (ctx.audit) for (const node of nodes) saw(node, ctx);
    return nodes;
  });
}

export function auditedNode<T extends Named>({ node }: Edge<T>, _args: unknown, ctx: Context): T {
  saw(node, ctx);
  return node;
}
