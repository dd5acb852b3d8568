import type { Uuid } from '../uuid.ts';
import { type GrantedKind, grantText } from './grants.ts';
import type { Viewer } from './viewer.ts';

/** What a viewer's grants say by themselves, without knowing what lies under what. */
export interface Reach {
  /** Everything is open. */
  readonly isPartner: boolean;
  /** Is this very record named in a grant? */
  holds(kind: string, id: Uuid): boolean;
  granted(kind: GrantedKind): readonly Uuid[];
}

export function reachOf(viewer: Viewer): Reach {
  const texts = new Set(viewer.grants.map(grantText));
  return {
    isPartner: texts.has('partner'),
    holds: (kind, id) => texts.has(`${kind}:${id}`),
    granted: (kind) => viewer.grants.flatMap((grant) => (grant.kind === kind ? [grant.id] : [])),
  };
}
