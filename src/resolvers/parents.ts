import type { Context } from '../context.ts';
import type { Link } from '../store/lineage-store.ts';
import { type Uuid, toUuid } from '../uuid.ts';

export interface Parent {
  readonly kind: string;
  readonly id: Uuid;
  readonly page: number | undefined;
  readonly seenAt: number;
}

/** Under what the lineage has seen a record lie, newest first; of one kind, if one is named. */
export async function parentsOf(
  kind: string,
  id: string,
  parentKind: string | undefined,
  ctx: Context,
): Promise<readonly Parent[]> {
  const links = await ctx.linksOf(`${kind}:${id}`);
  return links
    .map(toParent)
    .filter((parent) => parent !== undefined)
    .filter((parent) => !parentKind || parent.kind === parentKind)
    .toSorted((a, b) => b.seenAt - a.seenAt);
}

function toParent({ parent, page, seenAt }: Link): Parent | undefined {
  const [kind, text] = parent.split(':');
  const id = toUuid(text);
  return kind && id ? { kind, id, page, seenAt } : undefined;
}
