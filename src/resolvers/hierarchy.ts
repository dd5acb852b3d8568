import type { ListName, ListRef } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import type { ListedRef } from './refs.ts';

export type ListedKind = ListedRef['kind'];
/** The kinds that something lies under, and that a grant can name. */
type ParentKind = 'organization' | 'clinic' | 'clinician' | 'client';

/** What lies under what, and the list that says so. */
const listsAbove: Readonly<Record<ListedKind, Partial<Record<ParentKind, ListName>>>> = {
  organization: {},
  clinic: { organization: 'clinicsOfOrganization' },
  clinician: { clinic: 'cliniciansOfClinic' },
  client: { clinician: 'clientsOfClinician', clinic: 'clientsOfClinic' },
  session: { client: 'sessionsOfClient' },
  program: { client: 'programsOfClient', organization: 'programsOfOrganization' },
};

/** Only upwards: whatever a store may hold, a walk through it has an end. */
export const isAbove = (kind: ListedKind, above: string): above is ParentKind =>
  Object.hasOwn(listsAbove[kind], above);

/** Is a kind that `counts` anywhere above this one? */
export function canLieUnder(kind: ListedKind, counts: (above: ParentKind) => boolean): boolean {
  const above = Object.keys(listsAbove[kind]) as ParentKind[];
  return above.some((parent) => counts(parent) || canLieUnder(parent, counts));
}

/** The list of `parent` that holds the record, if anything does. */
export function listBetween(
  kind: ListedKind,
  id: Uuid,
  parent: { readonly kind: string; readonly id: Uuid },
): ListRef | undefined {
  const name = isAbove(kind, parent.kind) ? listsAbove[kind][parent.kind] : undefined;
  if (!name) return undefined;
  // The one list that filters by id.
  const filter = name === 'cliniciansOfClinic' ? { filter: { id } } : {};
  return { name, id: parent.id, ...filter };
}
