import { toUuid, type Uuid } from '../uuid.ts';

const RECORD_KINDS = ['organization', 'clinic', 'clinician', 'client', 'session'] as const;

export type GrantedKind = (typeof RECORD_KINDS)[number];

/** Opens one record and all that lies below it; `partner` opens everything. */
export type Grant =
  | { readonly kind: 'partner' }
  | { readonly kind: GrantedKind; readonly id: Uuid };

/**
 * The grants of a token's claim, sorted and each once; undefined for a claim that is no array.
 * A string this version does not know grants nothing: a newer issuer must not lock everybody out.
 */
export function grantsFromClaim(claim: unknown): readonly Grant[] | undefined {
  if (!Array.isArray(claim)) return undefined;
  const grants = new Map<string, Grant>();
  for (const text of claim) {
    const grant = parseGrant(text);
    if (grant) grants.set(grantText(grant), grant);
  }
  return [...grants.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, grant]) => grant);
}

export function parseGrant(text: unknown): Grant | undefined {
  if (typeof text !== 'string') return undefined;
  if (text === 'partner') return { kind: 'partner' };
  const colon = text.indexOf(':');
  const kind = RECORD_KINDS.find((known) => known === text.slice(0, colon));
  const id = toUuid(text.slice(colon + 1));
  return kind && id ? { kind, id } : undefined;
}

/** As it stands in a token. */
export function grantText(grant: Grant): string {
  return grant.kind === 'partner' ? 'partner' : `${grant.kind}:${grant.id}`;
}
