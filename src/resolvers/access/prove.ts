import type { Context } from '../../context.ts';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.ts';
import type { Uuid } from '../../uuid.ts';
import { NotFound } from '../../errors.ts';
import { createLookup } from '../lookup/lookup.ts';
import type { ListRef } from '../../rest/lists.ts';
import type { ClientList } from '../lookup/places.ts';
import type { ListedRef } from '../refs.ts';
import { auditNameOf, kindOf, knownParents, listFor, parentListsOf, parentsOf } from '../refs.ts';

/** Audits a read of the record, and returns it. */
export function auditRead<R extends ListedRef>(record: R, { audit }: Context): R {
  const name = audit && (record.auditName ?? auditNameOf(record.type, record.id));
  if (name) audit.read.add(name);
  return record;
}

type RecordName = { readonly type: string; readonly id: string };

/** Every type is audited except assessments, which are questionnaires. */
export function auditDenial({ type, id }: RecordName, { audit }: Context): void {
  if (type !== 'Assessment') audit?.denied.add(`${type}:${id}`);
}

/** Reads the contents of a record if the viewer may; otherwise throws `NotFound`. `extra` is passed on to `read`. */
export function requireAccess<R extends ListedRef, T, A>(
  ref: R,
  ctx: Context,
  read: (ref: R, ctx: Context, extra: A) => MaybePromise<T>,
  extra?: A,
): MaybePromise<T> {
  if (ref.open) return read(auditRead(ref, ctx), ctx, extra!);
  return mapMaybePromise(asOpen(ref, ctx), (open) => {
    if (open) return read(auditRead(open, ctx), ctx, extra!);
    auditDenial(ref, ctx);
    throw new NotFound();
  });
}

/** The same for a link, which is null if the record is not open. `denied` is what the audit log then names. */
export function ifOpen<R extends ListedRef, T>(
  ref: R,
  ctx: Context,
  read: (open: R) => MaybePromise<T | null>,
  denied: RecordName = ref,
): MaybePromise<T | null> {
  return mapMaybePromise(asOpen(ref, ctx), (open) => {
    if (open) return read(open);
    auditDenial(denied, ctx);
    return null;
  });
}

/** The record, marked as open, if the viewer may read it. A session has the client that its last event names, if any. */
export const asOpen = <R extends ListedRef>(ref: R, ctx: Context): MaybePromise<R | undefined> =>
  mapMaybePromise(isOpen(ref, ctx), (open) => {
    if (!open) return undefined;
    if (ref.type !== 'Session' || !ref.clientId) return { ...ref, open };
    return mapMaybePromise(ctx.clientIdFromLog(ref.id), (found) => {
      const clientId = found ?? ref.clientId!;
      // The log may name another client by now, who must be open too. For the same client, the check is cached.
      const isProven =
        ref.open || isGranted(ref, ctx) || isOpen({ type: 'Client', id: clientId }, ctx);
      return mapMaybePromise(isProven, (proven) =>
        proven ? { ...ref, clientId, open } : undefined,
      );
    });
  });

/** True for a `partner`, and if a grant names the record. */
const isGranted = ({ type, id }: ListedRef, { reach }: Context): boolean =>
  reach.isPartner || reach.holds(kindOf(type), id as Uuid);

/**
 * May the viewer read the record's contents? Records below an open one are open. A record named by id must be granted
 * or lie under a grant, and a list proves that: a page read within the last minute, or one that is read now.
 */
export function isOpen(ref: ListedRef, ctx: Context, assessedAt?: number): MaybePromise<boolean> {
  if (ref.open) return true;
  const { clientId, namedParents } = ref;
  // The arguments contradict the id.
  if (clientId && namedParents?.clientId && namedParents.clientId !== clientId) return false;
  if (isGranted(ref, ctx)) return true;
  const key = JSON.stringify([ref.type, ref.id, parentsOf(ref), namedParents, assessedAt]);
  const known = ctx.accessChecks.get(key);
  if (known !== undefined) return known;
  const proof = mapMaybePromise(prove(ref, ctx, assessedAt), (proven) => {
    // Never cache a denial: the next list may contain the record.
    if (!proven) ctx.doNotCache();
    return proven;
  });
  ctx.accessChecks.set(key, proof);
  return proof;
}

/** Only lists of records that the viewer may read prove access. Other pages that this operation has read do not. */
function prove(ref: ListedRef, ctx: Context, assessedAt?: number): MaybePromise<boolean> {
  const known = knownParents(ref);
  const { type, clientId } = ref;
  if (type === 'Organization') return false;
  if (type === 'Session') {
    if (ctx.viewer.grants.every((grant) => grant.startsWith('session:'))) return false;
    if (known.length === 0) {
      auditDenial(ref, ctx);
      throw NotFound.without('`clientId`');
    }
    // A session is open if its client is. If the log can't be read (null), the client's list has to hold the session.
    if (clientId)
      return mapMaybePromise(ctx.clientIdFromLog(ref.id), (found) =>
        found === null
          ? findUnderKnownParents(ref, ctx, { asProof: true }).then(Boolean)
          : isOpen({ type: 'Client', id: found ?? clientId }, ctx),
      );
  }
  // Their parents are permanent, and come from a list or a signed id.
  if (type === 'Assessment' || type === 'MagicEdit') return isOpen(known[0]!.parent, ctx);
  if (known.length > 0) return findUnderKnownParents(ref, ctx, { asProof: true }).then(Boolean);
  if (recentProof(ref, ctx)) return true;
  return createLookup(ctx, { assessedAt }).search(ref).then(Boolean);
}

/** Looks in the lists of known parents that are open; a client may have two. `asProof`: a recent page is enough. */
async function findUnderKnownParents(ref: ListedRef, ctx: Context, { asProof = false } = {}) {
  for (const { parent, list } of knownParents(ref)) {
    // No list is read that the viewer may not: access may have been proven by another parent.
    if (!isGranted(ref, ctx) && !(await isOpen(parent, ctx))) continue;
    if (asProof && ctx.relyOnProof(list, ref.id)) return ref;
    const found = await createLookup(ctx).findInList(list, ref.id);
    if (found) return found;
  }
  return undefined;
}

/** The list that proves access by a page read lately: of a granted parent, or of a clinic of a granted organization. */
function recentProof(ref: ListedRef, ctx: Context): ListRef | undefined {
  const { reach, recentLists } = ctx;
  for (const { name, parent } of parentListsOf(ref.type))
    for (const id of reach.grantedIds(kindOf(parent))) {
      const list = listFor(ref, name, id);
      if (ctx.relyOnProof(list, ref.id)) return list;
    }
  const ofClinic = parentListsOf(ref.type).find(({ parent }) => parent === 'Clinic');
  for (const id of ofClinic ? reach.grantedIds('organization') : []) {
    const clinics = { name: 'clinicsOfOrganization', id } as const;
    for (const clinic of recentLists.idsIn(clinics)) {
      const list = listFor(ref, ofClinic!.name, clinic as Uuid);
      const isProven = recentLists.proves(list, ref.id) && ctx.relyOnProof(clinics, clinic);
      if (isProven && ctx.relyOnProof(list, ref.id)) return list;
    }
  }
  return undefined;
}

/**
 * The row of the record, looked up once per operation. Finding it does not prove access. It is looked up in the parent
 * that its id, the arguments or the event name, and nowhere else; otherwise in the lists that the viewer's grants cover;
 * and for a `partner`, or if a grant names the record itself, in all lists, within a budget of calls.
 */
export function findRow(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const key = [ref.type, ref.id, ...Object.values(parentsOf(ref))].join(':');
  const lookup = ctx.lookups.get(key) ?? lookUpRow(ref, ctx);
  ctx.lookups.set(key, lookup);
  return lookup.then((found) => {
    // Never cache an absence: an event may name the list that holds the record by then.
    if (!found) ctx.doNotCache();
    return found;
  });
}

async function lookUpRow(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  if (knownParents(ref).length > 0) return findUnderKnownParents(ref, ctx);
  const lookup = createLookup(ctx);
  if (ref.type === 'Organization') return lookup.findInList({ name: 'organizations' }, ref.id);
  if (ref.type === 'Session') {
    // Only if its client is known: a scan of all clients would take too many calls.
    const id = await ctx.clientIdFromLog(ref.id);
    if (!id) throw NotFound.without('`clientId` to `session(id:)`');
    return lookup.findInList({ name: 'sessionsOfClient', id }, ref.id);
  }
  // A record that is neither granted nor linked is looked up under the grants only.
  if (!ref.linked && !isGranted(ref, ctx)) {
    const proof = ref.type === 'Client' && recentProof(ref, ctx);
    const found = proof && (await lookup.findClient(ref.id, [proof as ClientList]));
    return found || lookup.search(ref);
  }
  const budget = { pagesLeft: ctx.lookupMaxCalls, argument: ARGUMENTS[ref.type] ?? '' };
  const everywhere = createLookup(ctx, { budget });
  const client = ref.type === 'Client' ? await everywhere.findClient(ref.id) : undefined;
  if (client) return client;
  const underGrants = ctx.reach.isPartner ? undefined : await lookup.search(ref);
  return underGrants ?? everywhere.search(ref);
}

/** The argument that would say where the record is. */
const ARGUMENTS: Partial<Record<ListedRef['type'], string>> = {
  Clinic: '`organizationId`',
  Program: 'its organization',
  Clinician: '`clinicId`',
  Client: '`clinicId` or `clinicianId`',
};

/** The row on a page that this operation has read already; if parents are known, on a page of one of them. */
function findInSeenPages(ref: ListedRef, ctx: Context): ListedRef | undefined {
  const parents = Object.values(parentsOf(ref)).filter(Boolean);
  for (const { rows } of ctx.seenPages) {
    const row = rows.find((each) => each?.id === ref.id && each.type === ref.type);
    const isThere = row && Object.values(parentsOf(row)).some((id) => parents.includes(id));
    if (row && (isThere || parents.length === 0)) return row;
  }
  return undefined;
}
