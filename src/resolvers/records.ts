import { loadConnection } from '../connection/connection.ts';
import type { Need, WindowArgs } from '../connection/window.ts';
import { type Context, ROW_BYTES } from '../context.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import type { JsonObject } from '../json.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import { type PagedList, firstOffsetOf } from '../page.ts';
import { type ListName, type ListRef, listKeyOf } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import type { GrantedKind } from '../viewer/viewer.ts';
import {
  auditDenial,
  auditRead,
  ifOpen,
  isGranted,
  isOpen,
  opened,
  requireAccess,
} from './access/prove.ts';
import { NotFound, missingArgument } from '../errors.ts';
import { Lookup, loadListPage } from './lookup/lookup.ts';
import {
  type ClientRef,
  LISTS,
  type ListedRef,
  type NodeOfType,
  type NodeRef,
  type Parents,
  type RowOf,
  type SessionRef,
  kindOf,
  knownParents,
  parentsOf,
} from './refs.ts';

/** Resolves an attribute of a record that may be known by id alone. In that case the record is looked up. */
export const attribute =
  (name: string) =>
  (ref: NodeRef, _args: unknown, ctx: Context): Loaded<unknown> =>
    ref.record && ref.open
      ? ctx.responseSize.addValue((ref.record as JsonObject)[name])
      : byId(ref as ListedRef, true, ctx).then((found) =>
          ctx.responseSize.addValue((found?.record as JsonObject | undefined)?.[name] ?? null),
        );

/** Null if it does not exist or is not open. Unless its attributes are selected, it costs only the proof of access. */
export async function byId<R extends ListedRef>(
  ref: R,
  wantsAttributes: boolean,
  ctx: Context,
): Promise<R | null> {
  try {
    const open = await opened(ref, ctx);
    // Naming a record that is open shows that it is there.
    if (open && !wantsAttributes) return auditRead(open, ctx);
    const found = open && (await find(open, ctx));
    if (found) auditRead(ref, ctx);
    else auditDenial(ref, ctx);
    return (found as R | undefined) ?? null;
  } catch (error) {
    // A missing argument and a cut look-up are audited as denials too.
    if (error instanceof NotFound) auditDenial(ref, ctx);
    throw error;
  }
}

/**
 * The row of the record, looked up once per operation. Finding it does not prove access. The Partner API has no get-by-id
 * for records in lists, so a record known by id alone is looked up there: in the parent that its id, the arguments or the
 * event name, and nowhere else; otherwise in the lists that the viewer's grants cover; and for a `partner`, or if a grant
 * names the record itself, in all lists, within a budget of calls.
 */
export function find(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const name = [ref.type, ref.id, ...Object.values(parentsOf(ref))].join(':');
  const lookup = ctx.lookups.get(name) ?? lookUp(ref, ctx);
  ctx.lookups.set(name, lookup);
  return lookup;
}

async function lookUp(ref: ListedRef, ctx: Context): Promise<ListedRef | undefined> {
  const seen = findInSeenPages(ref, ctx);
  if (seen) return seen;
  const known = knownParents(ref);
  const lookup = new Lookup(ctx);
  for (const { parent, list } of known) {
    // No list is read that the viewer may not: access may have been proven by another parent.
    if (!isGranted(ref, ctx) && !(await isOpen(parent, ctx))) continue;
    const found = await lookup.find(list, ref.id);
    if (found) return found;
  }
  if (known.length > 0) return undefined;
  if (ref.type === 'Organization') return lookup.find({ name: 'organizations' }, ref.id);
  if (ref.type === 'Session') {
    // Only if its client is known: a scan of all clients would take too many calls.
    const id = await ctx.hub.clientOfSession(ref.id);
    if (!id) throw missingArgument('`clientId` to `session(id:)`');
    return lookup.find({ name: 'sessionsOfClient', id }, ref.id);
  }
  // Upward links too: if the id may be shown, the record may be looked up.
  if (!ref.linked && !isGranted(ref, ctx)) return lookup.search(ref);
  const budget = { pagesLeft: ctx.lookupMaxCalls, argument: ARGUMENTS[ref.type] ?? '' };
  const everywhere = new Lookup(ctx, { budget });
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

/** In the pages that this operation has read already, if they may hold the record. */
function findInSeenPages(ref: ListedRef, ctx: Context): ListedRef | undefined {
  const parents: readonly unknown[] = Object.values(parentsOf(ref)).filter(
    (id) => id !== undefined,
  );
  for (const { rows } of ctx.seenPages) {
    const row = rows.find((each) => each?.id === ref.id && each.type === ref.type);
    const isThere = row && Object.values(parentsOf(row)).some((id) => parents.includes(id));
    if (row && (isThere || parents.length === 0)) return row;
  }
  return undefined;
}

/** A link upward, or to what an event names: only ids may be shown until a list proves access. */
export const linkTo = <T extends ListedRef['type']>(type: T, id: Uuid, parents?: Parents) =>
  ({ type, id, open: false, linked: true, ...parents }) as NodeOfType<T>;

/** The id of a record's parent, which is looked up if it is not known. */
const parentId = (ref: ListedRef, name: keyof Parents, ctx: Context): Loaded<Uuid | undefined> =>
  ref[name] ?? find(ref, ctx).then((found) => found?.[name]);

/**
 * Resolves a link to a parent if the viewer may read the record, or came up from a record that they may read. Otherwise
 * it is null: a made-up id must not reveal a record's parents.
 */
function parentLink<R extends ListedRef, T extends 'Organization' | 'Clinic' | 'Client'>(
  type: T,
  parentIdOf = (ref: R, ctx: Context) => parentId(ref, `${kindOf(type)}Id`, ctx),
) {
  const read = (ref: R, ctx: Context): Loaded<NodeOfType<T> | null> =>
    whenLoaded(parentIdOf(ref, ctx), (id) => {
      if (!id) return null;
      ctx.responseSize.add(ROW_BYTES);
      // It shows where a patient is treated, or whose session it is.
      auditRead(ref, ctx);
      return linkTo(type, id);
    });
  return (ref: R, _args: unknown, ctx: Context) =>
    ref.open || ref.linked ? read(ref, ctx) : ifOpen(ref, ctx, () => read(ref, ctx));
}

export const organizationOfClinic = parentLink('Organization');
export const clinicOfClinician = parentLink('Clinic');

/** The clinic whose list holds the client, or that of the clinician whose list does. */
export const clinicOfClient = parentLink('Clinic', (client: ClientRef, ctx) =>
  whenLoaded(
    client.clinicId || client.clinicianId ? client : find(client, ctx),
    ({ clinicId, clinicianId }: Parents = {}) =>
      clinicianId && !clinicId
        ? parentId(linkTo('Clinician', clinicianId), 'clinicId', ctx)
        : clinicId,
  ),
);

/** The client in the session's id or list. Otherwise it is looked up by the client argument or in the event log. */
const clientOfOpenSession = parentLink('Client', (session: SessionRef, ctx) => {
  if (session.clientId || session.namedParents?.clientId) return parentId(session, 'clientId', ctx);
  ctx.doNotCache();
  return ctx.hub.clientOfSession(session.id);
});

/** Only the client's id: they may have moved since the event, and not all who see it may know where to. */
export const clientOfEvent = ({ clientId: id }: Pick<PartnerEvent, 'clientId'>): ClientRef => ({
  type: 'Client',
  id,
});

/** Of a session in an event, as of the event itself: only the client's id. */
export const clientOfSession = (session: SessionRef, args: unknown, ctx: Context) =>
  session.linked && !session.open && session.clientId
    ? clientOfEvent({ clientId: session.clientId })
    : clientOfOpenSession(session, args, ctx);

/** A list of the Partner API, page by page. */
function pagesOf<N extends ListName>(list: ListRef<N>, ctx: Context): PagedList<RowOf<N>> {
  const { loaders } = ctx;
  return {
    key: listKeyOf(list),
    loadPage: (page, since) =>
      loadListPage(list, page, ctx, since === undefined ? 0 : Math.max(since, loaders.freshSince)),
    totalHint: () => loaders.totalOf(list),
  };
}

/** A list inside a record. */
export const connectionIn = <N extends ListName>(
  parent: ListedRef,
  list: ListRef<N>,
  args: WindowArgs,
  need: Need,
  ctx: Context,
) =>
  requireAccess(parent, ctx, () => {
    // Even an empty result of a filter reveals something about patients, so the read is audited.
    if (list.filter && LISTS[list.name].row === 'Client')
      ctx.audit?.read.add(`${parent.type}:${parent.id}`);
    return loadConnection(args, need, pagesOf(list, ctx), ctx.cursors);
  });

/** All organizations for `partner`; for other viewers those that a grant names, with the same windows and no call. */
export function organizationsOfViewer(args: WindowArgs, need: Need, ctx: Context) {
  const list = ctx.reach.isPartner
    ? pagesOf({ name: 'organizations' }, ctx)
    : pagesOfRows('granted organizations', granted('Organization', ctx));
  return loadConnection(args, need, list, ctx.cursors);
}

const pagesOfRows = <R>(key: string, rows: readonly R[]): PagedList<R> => ({
  key,
  loadPage: (page) => ({
    rows: rows.slice(firstOffsetOf(page), firstOffsetOf(page + 1)),
    total: rows.length,
    page,
  }),
  totalHint: () => rows.length,
});

/** The records of one type that the viewer's grants name: known by id, and open. */
export const granted = <T extends Capitalize<GrantedKind>>(type: T, { reach }: Context) =>
  reach.granted(kindOf(type)).map((id) => ({ type, id, open: true }));
