import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { NoteRecord } from '../rest/records.ts';
import { isOpen } from './access/prove.ts';
import { requireAccess } from './access/require-access.ts';
import type { MdmRef, NoteRef, SessionRef, TranscriptRef } from './refs.ts';

export const noteOfSession = (session: SessionRef, _args: unknown, ctx: Context) =>
  requireAccess(session, ctx, readNote);

function readNote(session: SessionRef, ctx: Context): Loaded<NoteRef | null> {
  const record = ctx.loaders.noteOfSession(session.id);
  // Without a closure for a note that is cached: a list may have hundreds.
  return record instanceof Promise
    ? record.then((loaded) => (loaded ? noteRef(loaded, session, ctx) : null))
    : record
      ? noteRef(record, session, ctx)
      : null;
}

/** A note that is returned. A change of the note invalidates what was cached under its session and its client. */
export function noteRef(
  record: NoteRecord,
  session: SessionRef | undefined,
  ctx: Context,
): NoteRef {
  const note = session?.note?.record === record ? session.note : newNoteRef(record, session, ctx);
  ctx.audit?.recordRead(note.auditName);
  return note;
}

function newNoteRef(record: NoteRecord, session: SessionRef | undefined, ctx: Context): NoteRef {
  const sessionId = session?.id ?? record.sessionId ?? undefined;
  if (record.id) ctx.invalidation.noteRead(record.id, sessionId, session?.clientId);
  const auditName = `ProgressNote:${record.id ?? `session:${sessionId}`}`;
  const note: NoteRef = { kind: 'note', record, session, auditName };
  if (session) session.note = note;
  return note;
}

export const transcriptOfSession = (session: SessionRef, _args: unknown, ctx: Context) =>
  requireAccess(session, ctx, readTranscript);

function readTranscript(session: SessionRef, ctx: Context): Loaded<TranscriptRef | null> {
  return whenLoaded(ctx.loaders.transcript(session.id), (record) => {
    if (record === 'not-ready') return null;
    ctx.audit?.recordRead(`Transcript:${session.id}`);
    return { kind: 'transcript', session, record };
  });
}

export const mdmOfSession = (session: SessionRef, _args: unknown, ctx: Context) =>
  requireAccess(session, ctx, readMdm);

function readMdm(session: SessionRef, ctx: Context): Loaded<MdmRef | null> {
  return whenLoaded(ctx.loaders.mdm(session.id), (record) => {
    if (record === 'not-ready') return null;
    ctx.audit?.recordRead(`MDM:${session.id}`);
    return { kind: 'mdm', session, record };
  });
}

/** By its own global id, which names the session. */
export async function transcriptById(session: SessionRef, ctx: Context) {
  if (await isOpen(session, ctx)) return transcriptOfSession({ ...session, open: true }, {}, ctx);
  ctx.audit?.recordDenied(`Transcript:${session.id}`);
  return null;
}

export async function mdmById(session: SessionRef, ctx: Context) {
  if (await isOpen(session, ctx)) return mdmOfSession({ ...session, open: true }, {}, ctx);
  ctx.audit?.recordDenied(`MDM:${session.id}`);
  return null;
}

export type ArtifactStatus = 'READY' | 'NOT_READY' | 'FAILED';

/** Resolves the status of a transcript or MDM. Without a transcript there is no MDM: a failed transcription fails both. */
export function statusOf(artifact: 'transcript' | 'mdm') {
  const read = (session: SessionRef, ctx: Context): Loaded<ArtifactStatus> =>
    whenLoaded(ctx.loaders[artifact](session.id) as Loaded<unknown>, (record) => {
      if (record !== 'not-ready') return 'READY';
      ctx.doNotCache();
      return whenLoaded(ctx.milestones.transcriptionFailed(session.id), (failed) =>
        failed ? 'FAILED' : 'NOT_READY',
      );
    });
  return (session: SessionRef, _args: unknown, ctx: Context) => requireAccess(session, ctx, read);
}
