import { loadConnection } from '../connection/connection.ts';
import type { Need, WindowArgs } from '../connection/window.ts';
import { type Context, ROW_BYTES } from '../context.ts';
import type { PartnerEvent, SessionEvent } from '../events/partner-event.ts';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import { type PagedList, firstOffsetOf } from '../page.ts';
import { type ListName, type ListRef, listKeyOf } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import type { GrantedKind } from '../viewer/viewer.ts';
import { asOpen, auditDenial, auditRead, findRow, ifOpen, requireAccess } from './access/prove.ts';
import { NotFound } from '../errors.ts';
import { loadListPage } from './lookup/lookup.ts';
import type { ListedRef, NodeOfType, NodeRef, NoteRef, Parents, SessionRef } from './refs.ts';
import { LISTS, type RowRef, kindOf } from './refs.ts';

type RecordOfNode<R extends NodeRef> = NonNullable<R['record']>;

/** Resolves an attribute of a record that may be known by id alone. In that case the record is looked up. */
export function attribute<R extends NodeRef, K extends keyof RecordOfNode<R>>(name: K) {
  return (ref: R, _args: unknown, ctx: Context): MaybePromise<RecordOfNode<R>[K] | null> =>
    ref.record && ref.open
      ? ctx.responseSize.addValue((ref.record as RecordOfNode<R>)[name])
      : byId(ref as ListedRef, true, ctx).then((found) =>
          ctx.responseSize.addValue((found?.record as RecordOfNode<R> | undefined)?.[name] ?? null),
        );
}

/** Null if it does not exist or is not open. Unless its attributes are wanted, it costs only the proof of access. */
export async function byId<R extends ListedRef>(ref: R, wantsAttributes: boolean, ctx: Context) {
  try {
    const open = await asOpen(ref, ctx);
    // An open record is taken to exist, so it is looked up only for its attributes.
    const found = open && wantsAttributes ? await findRow(open, ctx) : open;
    if (found) auditRead(ref, ctx);
    else auditDenial(ref, ctx);
    return (found as R | undefined) ?? null;
  } catch (error) {
    // A missing argument and a cut look-up are audited as denials too.
    if (error instanceof NotFound) auditDenial(ref, ctx);
    throw error;
  }
}

/** A link upward, or to what an event names: only ids may be shown until a list proves access. */
export const linkTo = <T extends ListedRef['type']>(type: T, id: Uuid, parents?: Parents) =>
  ({ type, id, open: false, linked: true, ...parents }) as NodeOfType<T>;

/** The id of a record's parent, which is looked up if it is not known. */
const parentId = (ref: ListedRef, name: keyof Parents, ctx: Context) =>
  ref[name] ?? findRow(ref, ctx).then((found) => found?.[name]);

/**
 * Resolves a link to a parent if the viewer may read the record, or came up from a record that they may read. Otherwise
 * it is null: a made-up id must not reveal a record's parents.
 */
export function parentLink<R extends ListedRef, T extends 'Organization' | 'Clinic' | 'Client'>(
  type: T,
  parentIdOf = (ref: R, ctx: Context): MaybePromise<Uuid | undefined> =>
    parentId(ref, `${kindOf(type)}Id`, ctx),
) {
  function toLink(id: Uuid | undefined, ref: R, ctx: Context): NodeOfType<T> | null {
    if (!id) return null;
    ctx.responseSize.add(ROW_BYTES);
    // Audited, since it shows where a patient is treated, or whose session it is.
    auditRead(ref, ctx);
    // A session is open because its client is, unless a grant names the session itself.
    const open = ref.type === 'Session' && ref.open && !ctx.reach.holds('session', ref.id);
    return { ...linkTo(type, id), open };
  }
  const read = (ref: R, ctx: Context) => mapMaybePromise(parentIdOf(ref, ctx), toLink, ref, ctx);
  return (ref: R, _args: unknown, ctx: Context) =>
    ref.open || ref.linked ? read(ref, ctx) : ifOpen(ref, ctx, () => read(ref, ctx));
}

/** The clinic whose list holds the client, or that of the clinician whose list does. */
export const clinicOfClient = parentLink('Clinic', (client: NodeOfType<'Client'>, ctx) =>
  client.clinicId || client.clinicianId
    ? clinicIdOf(client, ctx)
    : findRow(client, ctx).then((found) => clinicIdOf(found, ctx)),
);

const clinicIdOf = ({ clinicId, clinicianId }: Parents = {}, ctx: Context) =>
  clinicianId && !clinicId ? parentId(linkTo('Clinician', clinicianId), 'clinicId', ctx) : clinicId;

/** The client in the session's id or list. Otherwise it is looked up by the client argument or in the event log. */
const clientOfOpenSession = parentLink('Client', (session: SessionRef, ctx) => {
  if (session.clientId || session.namedParents?.clientId) return parentId(session, 'clientId', ctx);
  return mapMaybePromise(ctx.clientIdFromLog(session.id), (found) => found ?? undefined);
});

/** Only the client's id: they may have moved since the event, and not all who see it may know where to. */
export const clientOfEvent = ({ clientId: id }: Pick<PartnerEvent, 'clientId'>) =>
  ({ type: 'Client', id }) as const;

export const sessionOfEvent = ({ sessionId, clientId }: SessionEvent): SessionRef =>
  linkTo('Session', sessionId, { clientId });

/** The session in the id or the arguments; for `partner`, who needs no proof, also the one in the record. */
export function sessionOfNote({ session, record }: NoteRef): SessionRef | null {
  if (session) return session;
  return record.sessionId ? { type: 'Session', id: record.sessionId, open: true } : null;
}

/** For a session of an event, as for the event itself, only the client's id. */
export const clientOfSession = (session: SessionRef, args: unknown, ctx: Context) =>
  session.linked && !session.open && session.clientId
    ? clientOfEvent({ clientId: session.clientId })
    : clientOfOpenSession(session, args, ctx);

/** A list of the Partner API, page by page. */
function pagesOf<N extends ListName>(list: ListRef<N>, ctx: Context) {
  const { loaders, partner } = ctx;
  const key = listKeyOf(list);
  return {
    key,
    loadPage: (page: number, since?: number) =>
      loadListPage(list, page, ctx, since === undefined ? 0 : Math.max(since, loaders.freshSince)),
    totalHint: () => partner.cache.totalOf(key),
  } as PagedList<RowRef<N>>;
}

/** A list inside a record. */
export const connectionIn = <N extends ListName>(
  parent: ListedRef,
  request: ListRequest<N>,
  ctx: Context,
) => requireAccess(parent, ctx, loadList<N>, request);

type ListRequest<N extends ListName> = Readonly<{ list: ListRef<N>; args: WindowArgs; need: Need }>;

function loadList<N extends ListName>(parent: ListedRef, ctx: Context, request: ListRequest<N>) {
  const { list, args, need } = request;
  // Even an empty result of a filter reveals something about patients, so the read is audited.
  if (list.filter && LISTS[list.name].row === 'Client')
    ctx.audit?.read.add(`${parent.type}:${parent.id}`);
  return loadConnection(args, need, pagesOf(list, ctx), ctx.cursors);
}

/** All organizations for `partner`; for other viewers those that a grant names, with the same windows and no call. */
export function organizationsOfViewer(args: WindowArgs, need: Need, ctx: Context) {
  if (ctx.reach.isPartner)
    return loadConnection(args, need, pagesOf({ name: 'organizations' }, ctx), ctx.cursors);
  const all = granted('Organization', ctx);
  const list = {
    key: 'granted organizations',
    loadPage(page: number) {
      const rows = all.slice(firstOffsetOf(page), firstOffsetOf(page + 1));
      return { rows, total: all.length, page };
    },
    totalHint: () => all.length,
  };
  return loadConnection(args, need, list, ctx.cursors);
}

/** The records of one type that the viewer's grants name: known by id, and open. */
export const granted = <T extends Capitalize<GrantedKind>>(type: T, { reach }: Context) =>
  reach.grantedIds(kindOf(type)).map((id) => ({ type, id, open: true }));
