import type { Context, FoundRow } from '../context.ts';
import type { Loaded } from '../loaded.ts';
import { whenLoaded } from '../loaded.ts';
import type { ListName, ListRef } from '../rest/lists.ts';
import { StoreUnavailable } from '../store/errors.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access.ts';
import { everyClient, everyClinic, everyOrganization } from './every.ts';
import { type Parent, parentsOf } from './parents.ts';
import type {
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  OrganizationRef,
  ProgramRef,
  SessionRef,
} from './refs.ts';
import { type Candidate, findInLists } from './search.ts';
import { missed, saw } from './shown.ts';

/** What a lazily known record was looked up as: its attributes, or undefined if it is nowhere, or not open. */
export function recordOf<R extends ListedRef>(
  ref: R,
  ctx: Context,
): Loaded<NonNullable<R['record']> | undefined> {
  if (ref.record && ref.open) return ref.record;
  return whenLoaded(isOpen(ref, ctx), (open) =>
    whenLoaded(open ? find(ref, ctx) : undefined, (found) => {
      (found ? saw : missed)(ref, ctx);
      return found?.row as NonNullable<R['record']> | undefined;
    }),
  );
}

/** Where the record stands, looked for once an operation. */
export function find(ref: ListedRef, ctx: Context): Promise<FoundRow | undefined> {
  const name = `${ref.kind}:${ref.id}`;
  const known = ctx.lookups().get(name);
  if (known) return known;
  const search = searchFor(ref, ctx);
  ctx.lookups().set(name, search);
  return search;
}

function searchFor(ref: ListedRef, ctx: Context): Promise<FoundRow | undefined> {
  switch (ref.kind) {
    case 'organization':
      return findOrganization(ref, ctx);
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

function findOrganization({ id }: OrganizationRef, ctx: Context) {
  const all: Candidate<'organizations'> = { list: { name: 'organizations' } };
  return findInLists(['organizations'], id, [all], nowhereElse, ctx);
}

async function findClinic({ id, organizationId, hint }: ClinicRef, ctx: Context) {
  const likely = await candidates(
    'clinicsOfOrganization',
    'organization',
    organizationId ?? hint?.organizationId,
    { kind: 'clinic', id },
    ctx,
  );
  return findInLists(
    ['clinicsOfOrganization'],
    id,
    likely,
    () => everyOrganization('clinicsOfOrganization', ctx),
    ctx,
  );
}

async function findProgram({ id }: ProgramRef, ctx: Context) {
  const self = { kind: 'program', id };
  const ofClients = await candidates('programsOfClient', 'client', undefined, self, ctx);
  const ofOrganizations = await candidates(
    'programsOfOrganization',
    'organization',
    undefined,
    self,
    ctx,
  );
  return findInLists<'programsOfClient' | 'programsOfOrganization'>(
    ['programsOfClient', 'programsOfOrganization'],
    id,
    [...ofClients, ...ofOrganizations],
    () => everyOrganization('programsOfOrganization', ctx),
    ctx,
  );
}

/** The one list that filters by id: a call a clinic, whatever its size. */
async function findClinician({ id, clinicId, hint }: ClinicianRef, ctx: Context) {
  const likely = await candidates(
    'cliniciansOfClinic',
    'clinic',
    clinicId ?? hint?.clinicId,
    { kind: 'clinician', id },
    ctx,
  );
  const filter = { id };
  return findInLists(
    ['cliniciansOfClinic'],
    id,
    likely.map(({ list, link }) => ({ list: { ...list, filter }, ...(link && { link }) })),
    () => everyClinic('cliniciansOfClinic', ctx, filter),
    ctx,
  );
}

async function findClient({ id, hint, ...known }: ClientRef, ctx: Context) {
  const self = { kind: 'client', id };
  const clinicianId = known.clinicianId ?? hint?.clinicianId;
  const clinicId = known.clinicId ?? hint?.clinicId;
  const ofClinicians = await candidates('clientsOfClinician', 'clinician', clinicianId, self, ctx);
  const ofClinics = await candidates('clientsOfClinic', 'clinic', clinicId, self, ctx);
  return findInLists<'clientsOfClinician' | 'clientsOfClinic'>(
    ['clientsOfClinician', 'clientsOfClinic'],
    id,
    [...ofClinicians, ...ofClinics],
    () => everyClinic('clientsOfClinic', ctx),
    ctx,
  );
}

async function findSession({ id, clientId, hint }: SessionRef, ctx: Context) {
  const likely = await candidates(
    'sessionsOfClient',
    'client',
    clientId ?? hint?.clientId,
    { kind: 'session', id },
    ctx,
  );
  return findInLists(
    ['sessionsOfClient'],
    id,
    likely,
    () => everyClient('sessionsOfClient', ctx),
    ctx,
  );
}

/** The parent the caller named, then those the lineage remembers, with the page where the record stood. */
async function candidates<N extends ListName>(
  name: N,
  parentKind: string,
  named: Uuid | undefined,
  self: { readonly kind: string; readonly id: string },
  ctx: Context,
): Promise<Candidate<N>[]> {
  const remembered = await parentsOf(self.kind, self.id, parentKind, ctx).catch(noneIfDown);
  const known = remembered.map(({ id, page }) => ({
    list: { name, id } as ListRef<N>,
    page,
    link: { child: `${self.kind}:${self.id}`, parent: `${parentKind}:${id}` },
  }));
  const isNew = named && !remembered.some(({ id }) => id === named);
  return isNew ? [{ list: { name, id: named } }, ...known] : known;
}

/** Without its store the gateway still finds what is open: it only has to look further. */
function noneIfDown(error: unknown): readonly Parent[] {
  if (error instanceof StoreUnavailable) return [];
  throw error;
}

async function* nowhereElse(): AsyncGenerator<never> {}
