import { type Uuid, toUuid } from '../uuid.ts';

/** The kinds of records that a grant may name. */
export const RECORD_KINDS = ['organization', 'clinic', 'clinician', 'client', 'session'] as const;

export type GrantedKind = (typeof RECORD_KINDS)[number];

/** `partner` gives access to everything, a kind and an id to that record and everything under it. */
export function parseGrant(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  if (text === 'partner') return text;
  const colon = text.indexOf(':');
  const kind = RECORD_KINDS.find((known) => known === text.slice(0, colon));
  const id = toUuid(text.slice(colon + 1));
  return kind && id && `${kind}:${id}`;
}

/** The caller, as the token says. */
export type Viewer = Readonly<ReturnType<typeof createViewer>>;
export type Reach = Viewer['reach'];

export function createViewer(subject: string, grants: readonly string[], expiresAt = Infinity) {
  /** By kind: a list may ask for each of its rows, and putting the text of a grant together would take longer. */
  const ids = new Map<string, Set<Uuid>>(RECORD_KINDS.map((kind) => [kind, new Set()]));
  for (const [kind = '', id] of grants.map((grant) => grant.split(':')))
    ids.get(kind)?.add(id as Uuid);
  return {
    subject,
    /** Sorted, each once. */
    grants,
    /** The grants, without the records under them. */
    reach: {
      /** Viewers with the same key see the same records and may share answers about them. */
      key: grants.join(' '),
      isPartner: grants.includes('partner'),
      /** Whether a grant names this record itself. */
      holds: (kind: string, id: Uuid): boolean => ids.get(kind)?.has(id) ?? false,
      grantedIds: (kind: GrantedKind): readonly Uuid[] => [...ids.get(kind)!],
    },
    /** Milliseconds since 1970. `Infinity` if no sign-in is required. */
    expiresAt,
  };
}

/** Whether the viewer's token has expired since it was verified. */
export const hasExpired = ({ expiresAt }: Viewer): boolean => Date.now() >= expiresAt;

/** The viewer of a sandbox without AUTH_*: the patients are made up, and the server is on loopback. */
export const SANDBOX_VIEWER = createViewer('sandbox', ['partner']);
