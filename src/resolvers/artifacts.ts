import type { Context } from '../context.ts';
import type { ProgressNoteEvent, SessionEvent } from '../events/partner-event.ts';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.ts';
import type { CacheEntry } from '../rest/cache.ts';
import type { Endpoint } from '../rest/endpoints.ts';
import { type NoteRecord, recordEndpoints } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { auditDenial, auditRead, ifOpen, isOpen, requireAccess } from './access/prove.ts';
import { NotFound } from '../errors.ts';
import { sessionOfEvent } from './records.ts';
import type { ArtifactRef, NodeOfType, NoteRef, Parents, ScoreRef, SessionRef } from './refs.ts';

/** Records with a route of their own. The Partner API checks the partner only, so viewers' access is proven here. */

/** A note by its own UUID, which a regeneration may change, by its session, as its global id names it, or by both. */
export type NoteTarget = Readonly<{ noteId?: Uuid | undefined; session?: SessionRef | undefined }>;

/** The note in the audit log, if it was not found or is about to be changed. */
export const auditedTarget = ({ noteId, session }: NoteTarget) => ({
  type: 'ProgressNote',
  id: noteId ?? `session:${session?.id}`,
});

export const noteOfSession = (session: SessionRef, _args: unknown, ctx: Context) =>
  requireAccess(session, ctx, loadNote);

function loadNote(session: SessionRef, ctx: Context): MaybePromise<NoteRef | null> {
  const entry = ctx.loaders.entry(recordEndpoints.noteOfSession, session.id, session.noteEntry);
  return mapMaybePromise(entry, noteOfEntry, session, ctx);
}

function noteOfEntry(entry: CacheEntry<NoteRecord | null>, session: SessionRef, ctx: Context) {
  session.noteEntry = entry;
  return noteRef(entry.value, session, ctx);
}

/** The client that an answer about the session may name. */
export const clientIdOf = ({ clientId, namedParents }: SessionRef): Uuid | undefined =>
  clientId ?? namedParents?.clientId;

/** Returns the note and audits that it was read. Null if there is none. */
function noteRef(record: NoteRecord | null, session: SessionRef | undefined, ctx: Context) {
  if (!record) return null;
  let note = session?.note;
  if (note?.record !== record) {
    const { noteOfSession: endpoint } = recordEndpoints;
    if (session)
      ctx.loaders.requireSame(endpoint, session.id, record.clientId, clientIdOf(session));
    const { id: progressNoteId, isLoading } = record;
    const auditedId = progressNoteId ?? `session:${session?.id ?? record.sessionId}`;
    const fields = { progressNoteId, isLoading, auditName: `ProgressNote:${auditedId}` };
    note = { type: 'ProgressNote', record, open: true, session, ...fields };
    if (session) session.note = note;
  }
  ctx.audit?.read.add(note.auditName);
  return note;
}

/** A `partner` needs no proof and may name a note by its UUID alone. */
export function noteById(target: NoteTarget, ctx: Context): MaybePromise<NoteRef | null> {
  const { noteId, session } = target;
  const audited = auditedTarget(target);
  if (!session && !ctx.reach.isPartner) {
    auditDenial(audited, ctx);
    throw NotFound.without('`sessionId` and `clientId`');
  }
  const read = (open?: SessionRef) =>
    mapMaybePromise(noteRecord({ noteId, session: open }, ctx), (record) => {
      // The arguments may be wrong: the session has to hold this very note.
      if (record && (!noteId || record.id === noteId)) return noteRef(record, open, ctx);
      auditDenial(audited, ctx);
      return null;
    });
  return session ? ifOpen(session, ctx, read, audited) : read();
}

/** By its session if that is known: a rewrite may have given the note another id. */
export const noteRecord = (note: NoteTarget, { loaders }: Context, { fresh = false } = {}) =>
  note.session
    ? loaders.record(recordEndpoints.noteOfSession, note.session.id, { fresh })
    : loaders.record(recordEndpoints.note, note.noteId, { fresh });

/** The note, read again: a cached one may be from before the change. */
export const noteAfterChange = async (change: NoteTarget, _args: unknown, ctx: Context) =>
  noteRef(await noteRecord(change, ctx, { fresh: true }), change.session, ctx);

/** Null if it no longer exists: a later regeneration may have replaced it. */
export function noteOfEvent(event: ProgressNoteEvent, _args: unknown, ctx: Context) {
  const { progressNoteId: id, sessionId } = event;
  return ifOpen(sessionOfEvent(event), ctx, (session) =>
    mapMaybePromise(ctx.loaders.record(recordEndpoints.note, id), (record) => {
      if (!record) return null;
      ctx.loaders.requireSame(recordEndpoints.note, id, record.sessionId, sessionId);
      ctx.loaders.requireSame(recordEndpoints.note, id, record.clientId, session.clientId);
      return noteRef(record, session, ctx);
    }),
  );
}

/** True or unknown, never false: a note is finalized elsewhere, and its event may not have arrived yet. */
export function isNoteLocked(note: NoteRef, _args: unknown, ctx: Context) {
  if (!note.record.id) return null;
  ctx.doNotCache();
  return ctx.marks.noteLocked(note.record.id).then((locked) => locked || null);
}

/** The resolvers of a transcript or MDM, which is null until it exists. */
function artifact<T extends ArtifactRef['type']>(
  type: T,
  endpoint: Endpoint<NodeOfType<T>['record'] | null>,
) {
  type Value = ArtifactRef['record'] | null;

  function refOf(record: Value, session: SessionRef, ctx: Context): NodeOfType<T> | null {
    ctx.loaders.requireSame(endpoint, session.id, record?.clientId, clientIdOf(session));
    if (!record) return null;
    ctx.audit?.read.add(`${type}:${session.id}`);
    return { type, record, open: true, session } as unknown as NodeOfType<T>;
  }

  /** Without a transcript there is no MDM: a failed transcription fails both. */
  function statusOf(record: Value, session: SessionRef, ctx: Context) {
    ctx.loaders.requireSame(endpoint, session.id, record?.clientId, clientIdOf(session));
    if (record) return 'ready';
    ctx.doNotCache();
    const failed = ctx.marks.transcriptionFailed(session.id);
    return failed.then((hasFailed) => (hasFailed ? 'failed' : 'not_ready'));
  }

  const read = (session: SessionRef, ctx: Context) =>
    mapMaybePromise(ctx.loaders.record<Value>(endpoint, session.id), refOf, session, ctx);
  const readStatus = (session: SessionRef, ctx: Context) =>
    mapMaybePromise(ctx.loaders.record<Value>(endpoint, session.id), statusOf, session, ctx);

  return {
    ofSession: (session: SessionRef, _args: unknown, ctx: Context) =>
      requireAccess(session, ctx, read),
    statusOf: (session: SessionRef, _args: unknown, ctx: Context) =>
      requireAccess(session, ctx, readStatus),
    ofEvent: (event: SessionEvent, _args: unknown, ctx: Context) =>
      ifOpen(sessionOfEvent(event), ctx, (open) => read(auditRead(open, ctx), ctx)),
    byId: (session: SessionRef, ctx: Context) =>
      ifOpen(session, ctx, (open) => read(auditRead(open, ctx), ctx), { type, id: session.id }),
  };
}
export const transcripts = artifact('Transcript', recordEndpoints.transcript);
export const mdms = artifact('MDM', recordEndpoints.mdm);

/** The client comes from the score's global id or its event. Without it the score is open to `partner` only. */
export async function scoreById({ id, clientId }: Pick<ScoreRef, 'id'> & Parents, ctx: Context) {
  const open = clientId ? await isOpen({ type: 'Client', id: clientId }, ctx) : ctx.reach.isPartner;
  const record = open ? await ctx.loaders.record(recordEndpoints.score, id) : undefined;
  if (!record) {
    auditDenial({ type: 'AssessmentScore', id }, ctx);
    return null;
  }
  ctx.loaders.requireSame(recordEndpoints.score, id, record.clientId, clientId);
  ctx.audit?.read.add(`AssessmentScore:${id}`);
  return { type: 'AssessmentScore', id, record, open: true, clientId } as const;
}
