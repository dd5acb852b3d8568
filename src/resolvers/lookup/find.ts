import type { Context } from '../../context.ts';
import type { ListName, ListRef } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import { missingArgument } from '../errors.ts';
import { type ClientRef, LISTS, type ListedRef, type Parents, kindOf, parentsOf } from '../refs.ts';
import { type FindOptions, type LookupBudget, everyRow, findInList } from './find-in-list.ts';
import { type ClientList, isSameList, ofClinic, ofClinician } from './places.ts';

/**
 * The Partner API has no get-by-id for records in lists, so a record known by id alone is looked up there: in the
 * parent that its id, the arguments or the event name, and nowhere else; otherwise in the lists that the viewer's grants
 * cover; and for a `partner`, or if a grant names the record itself, in all lists, within a budget of calls.
 */

/** The lists that records of a type are looked up in, and whose lists they are. */
const PARENTS = Map.groupBy(
  Object.entries(LISTS).flatMap(([name, list]) =>
    'parent' in list ? [{ name: name as ListName, ...list }] : [],
  ),
  ({ row }): ListedRef['type'] => row,
);
const parentsOfType = (type: ListedRef['type']) => PARENTS.get(type) ?? [];

/** The list of a parent that may hold the record. */
const listIn = ({ type, id: row }: ListedRef, name: ListName, id: Uuid): ListRef =>
  // The only list with a filter by id: one call per clinic of any size.
  type === 'Clinician' ? { name, id, filter: { id: row } } : { name, id };

/** The parents that are known, and the list of each that holds the record. */
export function knownParents(ref: ListedRef) {
  const ids = parentsOf(ref);
  return parentsOfType(ref.type).flatMap(({ name, parent: type }) => {
    const id = ids[`${kindOf(type)}Id`];
    return id ? [{ parent: { type, id }, list: listIn(ref, name, id) }] : [];
  });
}

/** The lists that may hold the record in parents that a grant names. */
export const grantedLists = (ref: ListedRef, { reach }: Context): readonly ListRef[] =>
  parentsOfType(ref.type).flatMap(({ name, parent }) =>
    reach.granted(kindOf(parent)).map((id) => listIn(ref, name, id)),
  );

/** True for a `partner`, and if a grant names the record. */
export const isGranted = ({ type, id }: ListedRef, { reach }: Context): boolean =>
  reach.isPartner || reach.holds(kindOf(type), id as Uuid);

/** The row of the record, looked up once per operation. Finding it does not prove access. */
export function find(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const name = [ref.type, ref.id, ...Object.values(parentsOf(ref))].join(':');
  const lookup = ctx.lookups.get(name) ?? lookUp(ref, ctx);
  ctx.lookups.set(name, lookup);
  return lookup;
}

async function lookUp(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  const lists: ListRef[] = knownParents(ref).map(({ list }) => list);
  if (ref.type === 'Organization') lists.push({ name: 'organizations' });
  if (ref.type === 'Session' && lists.length === 0) {
    // Only if its client is known: a scan of all clients would take too many calls.
    const id = await ctx.hub.clientOfSession(ref.id);
    if (!id) throw missingArgument('`clientId`');
    lists.push({ name: 'sessionsOfClient', id });
  }
  for (const list of lists) {
    const found = await findInList(list, ref.id, ctx);
    if (found) return found;
  }
  if (lists.length > 0) return undefined;
  // Upward links too: if the id may be shown, the record may be looked up.
  if (!ref.above && !isGranted(ref, ctx)) return search(ref, ctx);
  const limit = ctx.lookupMaxCalls;
  const budget = { pagesLeft: limit, limit, argument: ARGUMENTS[ref.type] ?? '' };
  const places = ref.type === 'Client' ? await ctx.places.of(ref.id) : [];
  const known = places.map(({ list }) => list);
  return (
    (await findClientIn(known, ref.id as Uuid, ctx, { budget })) ??
    (ctx.reach.isPartner ? undefined : await search(ref, ctx)) ??
    search(ref, ctx, { budget })
  );
}

/** The argument that would say where the record is. */
const ARGUMENTS: Partial<Record<ListedRef['type'], string>> = {
  Clinic: '`organizationId`',
  Program: 'its organization',
  Clinician: '`clinicId`',
  Client: '`clinicId` or `clinicianId`',
};

/** In the pages that this operation has read already, if they may hold the record. */
function findInSeenPages(ref: ListedRef, ctx: Context): ListedRef | undefined {
  const parents = Object.values(parentsOf(ref)).filter((id) => id !== undefined);
  for (const { rows } of ctx.seenPages) {
    const row = rows.find((each) => each?.id === ref.id && each.type === ref.type);
    const isThere = row && Object.values(parentsOf(row)).some((id) => parents.includes(id));
    if (row && (isThere || parents.length === 0)) return row;
  }
  return undefined;
}

/** All organizations within the budget; without one, those that a grant names. */
async function* organizations(ctx: Context, budget?: LookupBudget): AsyncGenerator<Uuid> {
  if (!budget) yield* ctx.reach.granted('organization');
  else for await (const { id } of everyRow({ name: 'organizations' }, ctx, budget)) yield id;
}

/** All clinics within the budget; without one, the granted ones and those of granted organizations. */
async function* clinics(ctx: Context, budget?: LookupBudget): AsyncGenerator<Uuid> {
  if (!budget) yield* ctx.reach.granted('clinic');
  for await (const id of organizations(ctx, budget)) {
    const list = { name: 'clinicsOfOrganization', id } as const;
    for await (const clinic of everyRow(list, ctx, budget)) yield clinic.id;
  }
}

/** A record without a known parent: in all lists within the budget; without one, in those under the viewer's grants. */
export async function search(
  ref: ListedRef,
  ctx: Context,
  options: FindOptions = {},
): Promise<ListedRef | undefined> {
  const { budget } = options;
  if (ref.type === 'Client' && !budget)
    return findClientIn(await grantedClientLists(ctx), ref.id, ctx, options);
  const { name, parent } = parentsOfType(ref.type).at(-1)!;
  for await (const id of (parent === 'Organization' ? organizations : clinics)(ctx, budget)) {
    const found = await findInList(listIn(ref, name, id), ref.id, ctx, options);
    if (found) return found;
  }
  return undefined;
}

/** The lists of granted clinicians, of granted clinics, and of the clinics of granted organizations. */
async function grantedClientLists(ctx: Context): Promise<readonly ClientList[]> {
  const lists = ctx.reach.granted('clinician').map(ofClinician);
  for await (const clinic of clinics(ctx)) lists.push(ofClinic(clinic));
  return lists;
}

/** Is the client in the list of each clinician, clinic and organization that is named? */
export async function isClientUnder(
  { clinicianId, clinicId, organizationId }: Parents,
  id: Uuid,
  absentSince: number,
  ctx: Context,
): Promise<boolean> {
  const isIn = async (lists: readonly ClientList[]) =>
    lists.some((list) => ctx.recentLists.proves(list, id)) ||
    (await findClientIn(lists, id, ctx, { absentSince })) !== undefined;
  if (clinicianId && !(await isIn([ofClinician(clinicianId)]))) return false;
  if (clinicId && !(await isIn([ofClinic(clinicId)]))) return false;
  if (!organizationId) return true;
  const lists: ClientList[] = [];
  const list = { name: 'clinicsOfOrganization', id: organizationId } as const;
  for await (const clinic of everyRow(list, ctx)) lists.push(ofClinic(clinic.id));
  return isIn(lists);
}

/** The lists where the client was last seen are read first, at that page; small lists before large ones. */
async function findClientIn(
  lists: readonly ClientList[],
  id: Uuid,
  ctx: Context,
  options?: FindOptions,
): Promise<ClientRef | undefined> {
  if (lists.length === 0) return undefined;
  const known = await ctx.places.of(id);
  const pageIn = (list: ClientList) => known.find((place) => isSameList(place.list, list))?.page;
  const cost = (list: ClientList) => (pageIn(list) ? 0 : (ctx.loaders.totalOf(list) ?? 1_000));
  for (const list of lists.toSorted((a, b) => cost(a) - cost(b))) {
    const found = await findInList(list, id, ctx, { ...options, page: pageIn(list) });
    if (found) return found;
  }
  return undefined;
}
