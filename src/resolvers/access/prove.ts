import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import type { ListRef } from '../../rest/lists.ts';
import type { Uuid } from '../../uuid.ts';
import type { GrantedKind } from '../../viewer/viewer.ts';
import { NotFound, missingArgument } from '../errors.ts';
import { find, findClientUnderGrants, findInParents, isGranted, listIn } from '../lookup/find.ts';
import { type ClientRef, type ListedRef, type SessionRef, parentsOf } from '../refs.ts';
import { auditDenial, auditRead } from './audit-reads.ts';

/** Reads what is inside a record, for viewers who may. For everyone else the record does not exist. */
export function requireAccess<R extends ListedRef, T>(
  ref: R,
  ctx: Context,
  read: (ref: R, ctx: Context) => Loaded<T>,
): Loaded<T> {
  if (ref.open) return read(auditRead(ref, ctx), ctx);
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return read(auditRead(ref, ctx), ctx);
    auditDenial(ref, ctx);
    throw new NotFound();
  });
}

/** The same for a link, which is null and no error where the record is not open. */
export function ifOpen<T>(
  ref: ListedRef,
  ctx: Context,
  read: () => Loaded<T | null>,
): Loaded<T | null> {
  return whenLoaded(isOpen(ref, ctx), (open) => {
    if (open) return read();
    auditDenial(ref, ctx);
    return null;
  });
}

/**
 * May the viewer read what is inside? Walking down from what is open is always allowed; a record by its id must be named by
 * a grant or lie under one, and the proof of that is a list: a page read within the last minute, or one that is read now.
 */
export function isOpen(ref: ListedRef, ctx: Context): Loaded<boolean> {
  if (ref.open || isGranted(ref, ctx)) return true;
  const name = `${ref.type}:${ref.id}:${JSON.stringify([parentsOf(ref), ref.named])}`;
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

/** Only lists of what is open count as proof, whatever else this operation has read to follow an upward link. */
function prove(ref: ListedRef, ctx: Context): Loaded<boolean> {
  const { organizationId, clinicId, clinicianId } = parentsOf(ref);
  switch (ref.type) {
    case 'Organization':
      return false;
    case 'Program':
      return isFound(findInParents(ref, ctx));
    case 'Clinic': {
      const parent = organizationId && ({ type: 'Organization', id: organizationId } as const);
      return proveInParent(ref, 'clinicsOfOrganization', parent, 'organization', ctx);
    }
    case 'Clinician': {
      const parent = clinicId && ({ type: 'Clinic', id: clinicId } as const);
      return proveInParent(ref, 'cliniciansOfClinic', parent, 'clinic', ctx);
    }
    case 'Client':
      return hasGrants(ctx, 'organization', 'clinic', 'clinician') && proveClient(ref, ctx);
    case 'Session':
      return (
        hasGrants(ctx, 'organization', 'clinic', 'clinician', 'client') && proveSession(ref, ctx)
      );
    case 'Assessment':
      return isOpen({ type: 'Clinic', id: clinicId! }, ctx);
    case 'MagicEdit':
      return isOpen({ type: 'Clinician', id: clinicianId! }, ctx);
  }
}

const hasGrants = ({ reach }: Context, ...kinds: readonly GrantedKind[]): boolean =>
  kinds.some((kind) => reach.granted(kind).length > 0);

const isFound = async (search: Promise<ListedRef | undefined>): Promise<boolean> =>
  (await search) !== undefined;

/** A parent that is named is the only place looked in, and has to be open itself. */
function proveInParent(
  ref: Extract<ListedRef, { readonly type: 'Clinic' | 'Clinician' }>,
  name: 'clinicsOfOrganization' | 'cliniciansOfClinic',
  parent: ListedRef | undefined,
  kind: GrantedKind,
  ctx: Context,
): Loaded<boolean> {
  return whenLoaded(parent ? isOpen(parent, ctx) : true, (open) => {
    if (!open) return false;
    const parents = parent ? [parent.id as Uuid] : ctx.reach.granted(kind);
    return (
      isProvenByRecent(parents.map(listIn(name)), ref.id, ctx) || isFound(findInParents(ref, ctx))
    );
  });
}

function proveClient(ref: ClientRef, ctx: Context): Loaded<boolean> {
  if (ref.named?.clinicianId || ref.named?.clinicId) return proveNamedClient(ref, ctx);
  const { reach } = ctx;
  const lists = [
    ...reach.granted('clinician').map(listIn('clientsOfClinician')),
    ...reach.granted('clinic').map(listIn('clientsOfClinic')),
  ];
  if (isProvenByRecent(lists, ref.id, ctx) || isProvenUnderOrganization(ref.id, ctx)) return true;
  return findClientUnderGrants(ref.id, ctx).then((found) => {
    const { clinicianId, clinicId } = found ?? {};
    if (clinicianId) isProvenByRecent([listIn('clientsOfClinician')(clinicianId)], ref.id, ctx);
    if (clinicId) isProvenByRecent([listIn('clientsOfClinic')(clinicId)], ref.id, ctx);
    return found !== undefined;
  });
}

/** Both parents may be named: the client must be in the list of one that is open. */
async function proveNamedClient({ id, named }: ClientRef, ctx: Context): Promise<boolean> {
  const { clinicianId, clinicId } = named ?? {};
  const isIn = async (parent: ListedRef, only: ClientRef['named']) =>
    (await isOpen(parent, ctx)) && isFound(find({ type: 'Client', id, named: only }, ctx));
  return (
    (clinicianId && (await isIn({ type: 'Clinician', id: clinicianId }, { clinicianId }))) ||
    (clinicId !== undefined && isIn({ type: 'Clinic', id: clinicId }, { clinicId }))
  );
}

/**
 * A session is open to viewers who may open its client. Where the log has an event of the session that names another
 * client than its id does, that one counts.
 */
function proveSession(ref: SessionRef, ctx: Context): Loaded<boolean> {
  const { clientId } = ref;
  const named = ref.named?.clientId;
  if (clientId && named && named !== clientId) return false;
  if (clientId) {
    return whenLoaded(ctx.hub.clientOfSession(ref.id), (id = clientId) =>
      isOpen({ type: 'Client', id }, ctx),
    );
  }
  if (!named) throw missingArgument('`clientId`');
  return whenLoaded(
    isOpen({ type: 'Client', id: named }, ctx),
    (open) => open && isFound(find(ref, ctx)),
  );
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

function isProvenUnderOrganization(clientId: Uuid, { reach, recentLists, expiresBy }: Context) {
  return reach.granted('organization').some((id) => {
    const clinics = { name: 'clinicsOfOrganization', id } as const;
    for (const clinic of recentLists.idsIn(clinics)) {
      const list = { name: 'clientsOfClinic', id: clinic as Uuid } as const;
      const inClinic = recentLists.provenUntil(list, clientId);
      const inOrganization = inClinic && recentLists.provenUntil(clinics, clinic);
      if (!inClinic || !inOrganization) continue;
      expiresBy(Math.min(inClinic, inOrganization));
      return true;
    }
    return false;
  });
}
