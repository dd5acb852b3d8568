import type { Context } from '../context.ts';
import type { Uuid } from '../uuid.ts';
import { liesUnderGrant } from './access.ts';
import { parentsOf } from './parents.ts';
import type { ClientRef, ScoreRef } from './refs.ts';

/** Only a signed event tells whose score it is: without one, nobody but the partner itself may see it. */
export async function scoreById(id: Uuid, ctx: Context): Promise<ScoreRef | null> {
  const [client] = await parentsOf('score', id, 'client', ctx);
  const open = client ? await liesUnderGrant('client', client.id, ctx) : ctx.reach.isPartner;
  const record = open && (await ctx.loaders.score(id));
  if (record) return scoreShown({ kind: 'score', id, record, clientId: client?.id }, ctx);
  ctx.audit?.missed(`AssessmentScore:${id}`);
  return null;
}

export function scoreShown(score: ScoreRef, ctx: Context): ScoreRef {
  ctx.audit?.saw(`AssessmentScore:${score.id}`);
  return score;
}

export function clientOfScore(score: ScoreRef): ClientRef | null {
  return score.clientId ? { kind: 'client', id: score.clientId, open: true } : null;
}
