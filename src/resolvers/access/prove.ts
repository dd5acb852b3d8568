import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import type { ListRef } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import type { GrantedKind } from '../../viewer/viewer.ts';
import { find, findClientUnderGrants, listIn } from '../lookup/find.ts';
import { missingArgument } from '../errors.ts';
import type { ClientRef, ClinicRef, ClinicianRef, ListedRef, SessionRef } from '../refs.ts';

/**
 * May the viewer read what is inside? Walking down from what is open is always allowed; a record by its id must be named by
 * a grant or lie under one, and the proof of that is a list: a page read within the last minute, or one that is read now.
 */
export function isOpen(ref: ListedRef, ctx: Context): Loaded<boolean> {
  const { reach } = ctx;
  if (ref.open || reach.isPartner || reach.holds(ref.kind, ref.id)) return true;
  const name = `${ref.kind}:${ref.id}:${JSON.stringify(ref.named ?? '')}`;
  const known = ctx.proofs.get(name);
  if (known !== undefined) return known;
  const proof = whenLoaded(prove(ref, ctx), (proven) => {
    // Never cache a denial: the next list may bring the proof.
    if (!proven) ctx.doNotCache();
    return proven;
  });
  ctx.proofs.set(name, proof);
  return proof;
}

const clinicsOf = listIn('clinicsOfOrganization');
const clientsOfClinic = listIn('clientsOfClinic');

function prove(ref: ListedRef, ctx: Context): Loaded<boolean> {
  switch (ref.kind) {
    case 'organization':
      return false;
    case 'program':
      return hasGrants(ctx, 'organization') && isFound(ref, ctx);
    case 'clinic':
      return hasGrants(ctx, 'organization') && proveClinic(ref, ctx);
    case 'clinician':
      return hasGrants(ctx, 'organization', 'clinic') && proveClinician(ref, ctx);
    case 'client':
      return hasGrants(ctx, 'organization', 'clinic', 'clinician') && proveClient(ref, ctx);
    case 'session':
      return proveSession(ref, ctx);
  }
}

const hasGrants = ({ reach }: Context, ...kinds: readonly GrantedKind[]): boolean =>
  kinds.some((kind) => reach.granted(kind).length > 0);

const isFound = async (ref: ListedRef, ctx: Context): Promise<boolean> =>
  (await find(ref, ctx)) !== undefined;

function proveClinic(ref: ClinicRef, ctx: Context): Loaded<boolean> {
  const named = ref.named?.organizationId;
  const organizations = ctx.reach.granted('organization');
  if (named && !organizations.includes(named)) return false;
  return (
    isProvenByRecent((named ? [named] : organizations).map(clinicsOf), ref.id, ctx) ||
    isFound(ref, ctx)
  );
}

function proveClinician(ref: ClinicianRef, ctx: Context): Loaded<boolean> {
  const named = ref.named?.clinicId;
  if (named) return underNamed({ kind: 'clinic', id: named, open: false }, ref, ctx);
  const lists = ctx.reach.granted('clinic').map(listIn('cliniciansOfClinic'));
  return isProvenByRecent(lists, ref.id, ctx) || isFound(ref, ctx);
}

/** Both parents may be named: the client must be in the list of one that is open. */
async function proveNamedClient(ref: ClientRef, ctx: Context): Promise<boolean> {
  for (const kind of ['clinician', 'clinic'] as const) {
    const id = ref.named?.[`${kind}Id`];
    const onlyThere: ClientRef = { ...ref, named: { [`${kind}Id`]: id } };
    if (id && (await underNamed({ kind, id, open: false }, onlyThere, ctx))) return true;
  }
  return false;
}

function proveClient(ref: ClientRef, ctx: Context): Loaded<boolean> {
  if (ref.named?.clinicianId || ref.named?.clinicId) return proveNamedClient(ref, ctx);
  const { reach } = ctx;
  const lists = [
    ...reach.granted('clinician').map(listIn('clientsOfClinician')),
    ...reach.granted('clinic').map(clientsOfClinic),
  ];
  if (isProvenByRecent(lists, ref.id, ctx) || isProvenUnderOrganization(ref.id, ctx)) return true;
  return findClientUnderGrants(ref.id, ctx).then((found) => {
    if (found) isProvenByRecent([found.list], ref.id, ctx);
    return found !== undefined;
  });
}

/** A session is open to viewers who may open its client. */
function proveSession(ref: SessionRef, ctx: Context): Loaded<boolean> {
  const { named, clientId } = ref;
  if (!hasGrants(ctx, 'organization', 'clinic', 'clinician', 'client')) return false;
  if (clientId && named?.clientId && named.clientId !== clientId) return false;
  if (clientId) return provePresentClient(ref.id, clientId, ctx);
  if (!named?.clientId) throw missingArgument('`clientId`');
  return underNamed({ kind: 'client', id: named.clientId, open: false }, ref, ctx);
}

/** Where the log has an event of the session that names another client, that one counts. */
function provePresentClient(id: Uuid, clientId: Uuid, ctx: Context): Loaded<boolean> {
  return whenLoaded(ctx.hub.clientOfSession(id), (present = clientId) =>
    isOpen({ kind: 'client', id: present, open: false }, ctx),
  );
}

/** A parent that an argument names is the only place looked in, and has to be open itself. */
async function underNamed(parent: ListedRef, ref: ListedRef, ctx: Context): Promise<boolean> {
  return (await isOpen(parent, ctx)) && isFound(ref, ctx);
}

/** The answer lasts no longer than the page that proves it. */
function isProvenByRecent(lists: readonly ListRef[], id: string, ctx: Context): boolean {
  for (const list of lists) {
    const until = ctx.recentLists.provenUntil(list, id);
    if (until === undefined) continue;
    ctx.expiresBy(until);
    return true;
  }
  return false;
}

function isProvenUnderOrganization(clientId: Uuid, ctx: Context): boolean {
  return ctx.reach.granted('organization').some((organization) => {
    const clinics = clinicsOf(organization);
    for (const clinic of ctx.recentLists.idsIn(clinics)) {
      const inClinic = ctx.recentLists.provenUntil(clientsOfClinic(clinic as Uuid), clientId);
      const inOrganization = inClinic && ctx.recentLists.provenUntil(clinics, clinic);
      if (!inClinic || !inOrganization) continue;
      ctx.expiresBy(Math.min(inClinic, inOrganization));
      return true;
    }
    return false;
  });
}
