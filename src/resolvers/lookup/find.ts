import type { Context, FoundRow } from '../../context.ts';
import { type ListName, type ListRef, pathOf } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import { missingArgument } from '../errors.ts';
import {
  type ClientRef,
  type ClinicRef,
  type ClinicianRef,
  KINDS,
  type ListedRef,
  type Parents,
  type ProgramRef,
  type SessionRef,
} from '../refs.ts';
import { type LookupBudget, everyRow, findInList, rowOf } from './find-in-list.ts';

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
const clinicsOf = listIn('clinicsOfOrganization');

/** The record's row and its list, looked up once an operation. */
export function find(ref: ListedRef, ctx: Context): Promise<FoundRow | undefined> {
  const { clientId, clinicianId, clinicId, organizationId } = parentsOf(ref);
  const name = [ref.kind, ref.id, clientId, clinicianId, clinicId, organizationId].join(':');
  const known = ctx.lookups.get(name);
  if (known) return known;
  const search = lookUp(ref, ctx);
  ctx.lookups.set(name, search);
  return search;
}

const parentsOf = (ref: ListedRef): Parents => ({ ...ref.named, ...(ref as Parents) });

async function lookUp(ref: ListedRef, ctx: Context): Promise<FoundRow | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  switch (ref.kind) {
    case 'organization':
      return inLists(ref, [{ name: 'organizations' }], ctx);
    case 'clinic':
      return findClinic(ref, ctx);
    case 'program':
      return findProgram(ref, ctx);
    case 'clinician':
      return findClinician(ref, ctx);
    case 'client':
      return findClient(ref, ctx);
    case 'session':
      return findSession(ref, ctx);
  }
}

/** In the pages that this operation has read already, if they may hold the record. */
function findInSeenPages(ref: ListedRef, ctx: Context): FoundRow | undefined {
  const parents: readonly (Uuid | undefined)[] = Object.values(parentIdsOf(ref));
  const isNamed = parents.some((id) => id !== undefined);
  for (const [page, list] of ctx.seenPages) {
    if (KINDS[list.name] !== ref.kind) continue;
    if (isNamed && list.id && !parents.includes(list.id)) continue;
    const row = rowOf(page.rows, ref.id);
    if (row) return { row: row as FoundRow['row'], list };
  }
  return undefined;
}

const parentIdsOf = (ref: ListedRef): Parents => {
  const { clientId, clinicianId, clinicId, organizationId } = parentsOf(ref);
  if (ref.kind === 'session') return { clientId };
  if (ref.kind === 'client') return { clinicianId, clinicId };
  if (ref.kind === 'clinician') return { clinicId };
  return { organizationId };
};

function findClinic(ref: ClinicRef, ctx: Context) {
  const { organizationId } = parentsOf(ref);
  if (organizationId) return inLists(ref, [clinicsOf(organizationId)], ctx);
  if (!isSearchedEverywhere(ref, ctx)) {
    return inLists(ref, ctx.reach.granted('organization').map(clinicsOf), ctx);
  }
  const budget = budgetFor('`organizationId`', ctx);
  return inLists(ref, everyOrganization('clinicsOfOrganization', ctx, budget), ctx, budget);
}

function findProgram(ref: ProgramRef, ctx: Context) {
  const name = 'programsOfOrganization' as const;
  if (!ctx.reach.isPartner) {
    return inLists(ref, ctx.reach.granted('organization').map(listIn(name)), ctx);
  }
  const budget = budgetFor('its organization', ctx);
  return inLists(ref, everyOrganization(name, ctx, budget), ctx, budget);
}

/** The one list that filters by id: a call a clinic, whatever its size. */
function findClinician(ref: ClinicianRef, ctx: Context) {
  const filter = { id: ref.id };
  const filtered = (id: Uuid): ListRef => ({ name: 'cliniciansOfClinic', id, filter });
  const { clinicId } = parentsOf(ref);
  if (clinicId) return inLists(ref, [filtered(clinicId)], ctx);
  const isEverywhere = isSearchedEverywhere(ref, ctx);
  const budget = isEverywhere ? budgetFor('`clinicId`', ctx) : undefined;
  const clinics = isEverywhere ? everyClinic(ctx, budget) : clinicsUnderGrants(ctx);
  return inLists(ref, mapped(clinics, filtered), ctx, budget);
}

async function findClient(ref: ClientRef, ctx: Context): Promise<FoundRow | undefined> {
  const { clinicianId, clinicId } = parentsOf(ref);
  const named: ListRef[] = [];
  if (clinicianId) named.push(ofClinician(clinicianId));
  if (clinicId) named.push(ofClinic(clinicId));
  if (named.length > 0) return inLists(ref, named, ctx);
  if (!isSearchedEverywhere(ref, ctx)) return findClientUnderGrants(ref.id, ctx);
  const budget = budgetFor('`clinicId` or `clinicianId`', ctx);
  for (const { kind, id, page } of await ctx.places.of(ref.id)) {
    const list = kind === 'clinician' ? ofClinician(id as Uuid) : ofClinic(id as Uuid);
    const row = await findInList(list, ref.id, ctx, { page, budget });
    if (row) return { row, list };
    ctx.places.forget(ref.id, { kind, id });
  }
  return inLists(ref, mapped(everyClinic(ctx, budget), ofClinic), ctx, budget);
}

type ClientList = ListRef<'clientsOfClinician' | 'clientsOfClinic'>;

/** The list of a granted clinician or clinic, or of a clinic of a granted organization, that holds the client: proof of access. */
export async function findClientUnderGrants(id: Uuid, ctx: Context): Promise<FoundRow | undefined> {
  const lists: ClientList[] = ctx.reach.granted('clinician').map(ofClinician);
  for await (const clinic of clinicsUnderGrants(ctx)) lists.push(ofClinic(clinic));
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
  const clinics: ClientList[] = [];
  for await (const clinic of everyRow(clinicsOf(organizationId), ctx))
    clinics.push(ofClinic(clinic.id));
  return isIn(clinics);
}

/** The lists where the client was last seen are read first, at that page; small lists before large ones. */
async function findClientIn(
  lists: readonly ClientList[],
  id: Uuid,
  ctx: Context,
  options?: { readonly trustAbsence: true },
): Promise<FoundRow | undefined> {
  const places = await ctx.places.of(id);
  const pageIn = ({ name, id: parent }: ListRef): number | undefined =>
    places.find(
      (place) => place.id === parent && (place.kind === 'clinic') === (name === 'clientsOfClinic'),
    )?.page;
  const cost = (list: ListRef) => (pageIn(list) ? 0 : (ctx.loaders.totalOf(list) ?? 1_000));
  for (const list of lists.toSorted((a, b) => cost(a) - cost(b))) {
    // Cached pages may be older than the event that makes the list doubtful.
    if (ctx.recentLists.isDoubtful(list, id)) ctx.partner.forget([pathOf(list)]);
    const row = await findInList(list, id, ctx, { ...options, page: pageIn(list) });
    if (row) return { row, list };
    ctx.recentLists.forget(list, id);
  }
  return undefined;
}

/** A session is looked up only where its client is known: a scan of all clients would take too many calls. */
async function findSession(ref: SessionRef, ctx: Context): Promise<FoundRow | undefined> {
  const { clientId } = parentsOf(ref);
  const client = clientId ?? (await ctx.hub.clientOfSession(ref.id));
  if (!client) throw missingArgument('`clientId`');
  return inLists(ref, [{ name: 'sessionsOfClient', id: client }], ctx);
}

/** By a `partner`; and for a record that a grant names, or an upward link: whose id may be shown may be located. */
const isSearchedEverywhere = ({ kind, id, above }: ListedRef, { reach }: Context): boolean =>
  above === true || reach.isPartner || reach.holds(kind, id);

async function inLists(
  { id }: ListedRef,
  lists: Iterable<ListRef> | AsyncIterable<ListRef>,
  ctx: Context,
  budget?: LookupBudget,
): Promise<FoundRow | undefined> {
  for await (const list of lists) {
    const row = await findInList(list, id, ctx, { budget });
    if (row) return { row, list };
  }
  return undefined;
}

const budgetFor = (argument: string, { lookupMaxCalls: limit }: Context): LookupBudget => ({
  pagesLeft: limit,
  limit,
  argument,
});

async function* everyOrganization(
  name: 'clinicsOfOrganization' | 'programsOfOrganization',
  ctx: Context,
  budget: LookupBudget,
): AsyncGenerator<ListRef> {
  for await (const { id } of everyRow({ name: 'organizations' }, ctx, budget)) yield { name, id };
}

async function* everyClinic(ctx: Context, budget: LookupBudget | undefined): AsyncGenerator<Uuid> {
  for await (const organization of everyRow({ name: 'organizations' }, ctx, budget)) {
    const clinics = clinicsOf(organization.id);
    for await (const { id } of everyRow(clinics, ctx, budget)) yield id;
  }
}

/** The granted clinics, and those of granted organizations. */
async function* clinicsUnderGrants(ctx: Context): AsyncGenerator<Uuid> {
  yield* ctx.reach.granted('clinic');
  for (const organization of ctx.reach.granted('organization')) {
    for await (const { id } of everyRow(clinicsOf(organization), ctx)) yield id;
  }
}

async function* mapped(
  ids: AsyncIterable<Uuid>,
  toList: (id: Uuid) => ListRef,
): AsyncGenerator<ListRef> {
  for await (const id of ids) yield toList(id);
}
