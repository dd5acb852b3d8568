import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access/prove.ts';
import type { ClientRef, ScoreRef } from './refs.ts';

interface ScoreName {
  readonly id: Uuid;
  /** As the score's global id says; without it nobody but the partner itself may see the score. */
  readonly clientId?: Uuid | undefined;
}

export async function scoreById(
  { id, clientId }: ScoreName,
  ctx: Context,
): Promise<ScoreRef | null> {
  const open = clientId
    ? await isOpen({ kind: 'client', id: clientId, open: false }, ctx)
    : ctx.reach.isPartner;
  const score = open ? await scoreOf({ id, clientId }, ctx) : null;
  if (!score) ctx.audit?.missed(`AssessmentScore:${id}`);
  return score;
}

export function scoreOf({ id, clientId }: ScoreName, ctx: Context): Loaded<ScoreRef | null> {
  return whenLoaded(ctx.loaders.score(id, clientId ? { clientId } : undefined), (record) => {
    if (!record) return null;
    ctx.audit?.saw(`AssessmentScore:${id}`);
    return { kind: 'score', id, record, clientId };
  });
}

export function clientOfScore({ clientId }: ScoreRef): ClientRef | null {
  return clientId ? { kind: 'client', id: clientId, open: true } : null;
}
