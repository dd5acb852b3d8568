import type { Context } from '../../context.ts';
import { type ListName, type ListRef, pathOf } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import { missingArgument } from '../errors.ts';
import {
  type ClientRef,
  type ClinicRef,
  type ClinicianRef,
  type ListedRef,
  type Parents,
  type ProgramRef,
  parentsOf,
} from '../refs.ts';
import { type LookupBudget, everyRow, findInList } from './find-in-list.ts';

/**
 * The Partner API has no get-by-id for records in lists, so a record known by id alone is looked up there: in the
 * parent that its id, the arguments or the event name, and nowhere else; otherwise in the lists that the viewer's grants
 * cover; and for a `partner`, or a record that a grant names, in all lists, within a budget of calls.
 */

/** The list of this name in a record. */
export const listIn =
  <N extends ListName>(name: N) =>
  (id: Uuid): ListRef<N> => ({ name, id });

const ofClinician = listIn('clientsOfClinician');
const ofClinic = listIn('clientsOfClinic');

/** The row of the record, looked up once an operation. That it was found does not say that the viewer may read it. */
export function find(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const name = [ref.type, ref.id, ...Object.values(parentsOf(ref))].join(':');
  const search = ctx.lookups.get(name) ?? lookUp(ref, ctx);
  ctx.lookups.set(name, search);
  return search;
}

async function lookUp(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  switch (ref.type) {
    case 'Organization':
      return findInList({ name: 'organizations' }, ref.id, ctx);
    case 'Client':
      return findClient(ref, ctx);
    case 'Session': {
      // Only where its client is known: a scan of all clients would take too many calls.
      const id = parentsOf(ref).clientId ?? (await ctx.hub.clientOfSession(ref.id));
      if (!id) throw missingArgument('`clientId`');
      return findInList({ name: 'sessionsOfClient', id }, ref.id, ctx);
    }
    case 'Assessment':
      return findInList({ name: 'assessmentsOfClinic', id: ref.clinicId }, ref.id, ctx);
    case 'MagicEdit':
      return findInList({ name: 'magicEditsOfClinician', id: ref.clinicianId }, ref.id, ctx);
    default:
      return findInParents(ref, ctx, budgetFor(ref, PARENTS[ref.type].argument, ctx));
  }
}

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

/** Everything to a `partner`; to other viewers what a grant names. */
export const isGranted = ({ type, id }: ListedRef, { reach }: Context): boolean =>
  reach.isPartner || reach.holds(type.toLowerCase(), id as Uuid);

/** For what is looked up in all lists: also an upward link, since whose id may be shown may be located. */
function budgetFor(ref: ListedRef, argument: string, ctx: Context): LookupBudget | undefined {
  const limit = ctx.lookupMaxCalls;
  return ref.above || isGranted(ref, ctx) ? { pagesLeft: limit, limit, argument } : undefined;
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

/** Where the records of a type are looked up, and the argument that says so. */
const PARENTS = {
  Clinic: {
    list: 'clinicsOfOrganization',
    id: 'organizationId',
    all: organizations,
    argument: '`organizationId`',
  },
  Program: {
    list: 'programsOfOrganization',
    id: 'organizationId',
    all: organizations,
    argument: 'its organization',
  },
  Clinician: { list: 'cliniciansOfClinic', id: 'clinicId', all: clinics, argument: '`clinicId`' },
} as const;

export async function findInParents(
  ref: ClinicRef | ProgramRef | ClinicianRef,
  ctx: Context,
  budget?: LookupBudget,
): Promise<ListedRef | undefined> {
  const { list: name, id: parentId, all } = PARENTS[ref.type];
  const named = parentsOf(ref)[parentId];
  // The one list that filters by id: a call a clinic, whatever its size.
  const filter = ref.type === 'Clinician' ? { id: ref.id } : undefined;
  for await (const id of named ? [named] : all(ctx, budget)) {
    const options = named ? {} : { budget };
    const found = await findInList({ name, id, filter }, ref.id, ctx, options);
    if (found) return found;
  }
  return undefined;
}

async function findClient(ref: ClientRef, ctx: Context): Promise<ClientRef | undefined> {
  const { clinicianId, clinicId } = parentsOf(ref);
  if (clinicianId || clinicId) {
    return (
      (clinicianId && (await findInList(ofClinician(clinicianId), ref.id, ctx))) ||
      (clinicId && (await findInList(ofClinic(clinicId), ref.id, ctx))) ||
      undefined
    );
  }
  const budget = budgetFor(ref, '`clinicId` or `clinicianId`', ctx);
  if (!budget) return findClientUnderGrants(ref.id, ctx);
  const { places } = ctx.store;
  for (const { kind, id, page } of await places.of(ref.id)) {
    const list = kind === 'clinician' ? ofClinician(id as Uuid) : ofClinic(id as Uuid);
    const found = await findInList(list, ref.id, ctx, { page, budget });
    if (found) return found;
    places.forget(ref.id, { kind, id });
  }
  for await (const clinic of clinics(ctx, budget)) {
    const found = await findInList(ofClinic(clinic), ref.id, ctx, { budget });
    if (found) return found;
  }
  return undefined;
}

type ClientList = ListRef<'clientsOfClinician' | 'clientsOfClinic'>;

/** In the list of a granted clinician or clinic, or of a clinic of a granted organization: proof of access. */
export async function findClientUnderGrants(id: Uuid, ctx: Context) {
  const lists: ClientList[] = ctx.reach.granted('clinician').map(ofClinician);
  for await (const clinic of clinics(ctx)) lists.push(ofClinic(clinic));
  return findClientIn(lists, id, ctx);
}

/** Is the client in the list of each clinician, clinic and organization that is named? */
export async function isClientUnder(
  { clinicianId, clinicId, organizationId }: Parents,
  id: Uuid,
  ctx: Context,
): Promise<boolean> {
  const isIn = async (lists: readonly ClientList[]) =>
    lists.some((list) => ctx.recentLists.provenUntil(list, id) !== undefined) ||
    (await findClientIn(lists, id, ctx, { trustAbsence: true })) !== undefined;
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
  options?: { readonly trustAbsence: true },
): Promise<ClientRef | undefined> {
  const places = await ctx.store.places.of(id);
  const pageIn = ({ name, id: parent }: ListRef): number | undefined =>
    places.find(
      (place) => place.id === parent && (place.kind === 'clinic') === (name === 'clientsOfClinic'),
    )?.page;
  const cost = (list: ListRef) => (pageIn(list) ? 0 : (ctx.loaders.totalOf(list) ?? 1_000));
  for (const list of lists.toSorted((a, b) => cost(a) - cost(b))) {
    // Cached pages may be older than the event that makes the list doubtful.
    if (ctx.recentLists.isDoubtful(list, id)) ctx.partner.forget([pathOf(list)]);
    const found = await findInList(list, id, ctx, { ...options, page: pageIn(list) });
    if (found) return found;
    ctx.recentLists.forget(list, id);
  }
  return undefined;
}
