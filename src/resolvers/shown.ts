import type { Connection, Edge } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import { type PartnerEvent, isSessionEvent } from '../events/partner-event.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';

/** The kinds of rows that belong to a patient's record, as the audit names them. */
const ownTypes: Readonly<Record<string, string>> = {
  client: 'Client',
  session: 'Session',
  'magic-edit': 'MagicEdit',
};

export interface Named {
  readonly kind: string;
  readonly id: string;
}

/** Undefined for what says nothing about a patient. */
export function recordNameOf({ kind, id }: Named): string | undefined {
  const type = ownTypes[kind];
  return type && `${type}:${id}`;
}

export function saw(row: Named, ctx: Context): void {
  const name = ctx.audit && recordNameOf(row);
  if (name) ctx.audit.saw(name);
}

export function missed(row: Named, ctx: Context): void {
  const name = ctx.audit && recordNameOf(row);
  if (name) ctx.audit.missed(name);
}

export function sawEvent(event: PartnerEvent, ctx: Context): void {
  ctx.audit?.saw(
    isSessionEvent(event) ? `Session:${event.sessionId}` : `AssessmentScore:${event.scoreId}`,
  );
}

export function nodesShown<T extends Named>(
  window: Connection<T>,
  _args: unknown,
  ctx: Context,
): Loaded<readonly T[]> {
  return whenLoaded(window.nodes(), (nodes) => {
    if (ctx.audit) for (const node of nodes) saw(node, ctx);
    return nodes;
  });
}

export function nodeShown<T extends Named>({ node }: Edge<T>, _args: unknown, ctx: Context): T {
  saw(node, ctx);
  return node;
}
