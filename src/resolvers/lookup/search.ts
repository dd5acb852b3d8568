import type { Context } from '../../context.ts';
import type { ListName, ListRef } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import { type ClientRef, LISTS, type ListedRef, type Parents, kindOf, parentsOf } from '../refs.ts';
import { type FindOptions, type LookupBudget, everyRow, findInList } from './find-in-list.ts';
import { type ClientList, ofClinic, ofClinician } from './places.ts';

/** The lists that records of a type are looked up in, and whose lists they are. */
const PARENTS = Map.groupBy(
  Object.entries(LISTS).flatMap(([name, list]) =>
    'parent' in list ? [{ name: name as ListName, ...list }] : [],
  ),
  ({ row }): ListedRef['type'] => row,
);
const parentsOfType = (type: ListedRef['type']) => PARENTS.get(type) ?? [];

/** The list of a parent that may hold the record. */
const listFor = ({ type, id: row }: ListedRef, name: ListName, id: Uuid): ListRef =>
  // The only list with a filter by id: one call per clinic of any size.
  type === 'Clinician' ? { name, id, filter: { id: row } } : { name, id };

/** The parents that are known, and the list of each that holds the record. */
export function knownParents(ref: ListedRef) {
  const ids = parentsOf(ref);
  return parentsOfType(ref.type).flatMap(({ name, parent: type }) => {
    const id = ids[`${kindOf(type)}Id`];
    return id ? [{ parent: { type, id }, list: listFor(ref, name, id) }] : [];
  });
}

/** The lists that may hold the record in parents that a grant names. */
export const grantedLists = (ref: ListedRef, { reach }: Context): readonly ListRef[] =>
  parentsOfType(ref.type).flatMap(({ name, parent }) =>
    reach.granted(kindOf(parent)).map((id) => listFor(ref, name, id)),
  );

/** True for a `partner`, and if a grant names the record. */
export const isGranted = ({ type, id }: ListedRef, { reach }: Context): boolean =>
  reach.isPartner || reach.holds(kindOf(type), id as Uuid);

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
    const found = await findInList(listFor(ref, name, id), ref.id, ctx, options);
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
export async function findClientIn(
  lists: readonly ClientList[],
  id: Uuid,
  ctx: Context,
  options?: FindOptions,
): Promise<ClientRef | undefined> {
  if (lists.length === 0) return undefined;
  const known = await ctx.places.of(id);
  const pageIn = ({ name, id: parent }: ClientList) =>
    known.find(({ list }) => list.name === name && list.id === parent)?.page;
  const cost = (list: ClientList) => (pageIn(list) ? 0 : (ctx.loaders.totalOf(list) ?? 1_000));
  for (const list of lists.toSorted((a, b) => cost(a) - cost(b))) {
    const found = await findInList(list, id, ctx, { ...options, page: pageIn(list) });
    if (found) return found;
  }
  return undefined;
}
