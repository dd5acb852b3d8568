import type { Uuid } from '../uuid.ts';
import { type GrantedKind, grantText } from './grants.ts';
import type { Viewer } from './viewer.ts';

/** What a viewer's grants say by themselves, without knowing what lies under what. */
export interface Reach {
  /** Viewers of equal reach have the same. */
  readonly text: string;
  /** Everything is open. */
  readonly isPartner: boolean;
  /** Is this very record named in a grant? */
  holds(kind: string, id: Uuid): boolean;
  granted(kind: GrantedKind): readonly Uuid[];
}

const known = new WeakMap<Viewer, Reach>();

export function reachOf(viewer: Viewer): Reach {
  const before = known.get(viewer);
  if (before) return before;
  const texts = new Set(viewer.grants.map(grantText));
  const reach: Reach = {
    text: viewer.reach,
    isPartner: texts.has('partner'),
    holds: (kind, id) => texts.has(`${kind}:${id}`),
    granted: (kind) => viewer.grants.flatMap((grant) => (grant.kind === kind ? [grant.id] : [])),
  };
  known.set(viewer, reach);
  return reach;
}
