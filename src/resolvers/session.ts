import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { NoteRecord } from '../rest/records.ts';
import { parentLink } from './access/parent-link.ts';
import { isOpen } from './access/prove.ts';
import { requireAccess } from './access/require-access.ts';
import { find } from './lookup/find.ts';
import type { ClientRef, MdmRef, NoteRef, SessionRef, TranscriptRef } from './refs.ts';

/** Known from its id, a list or an event; otherwise a `partner`, or whoever has a grant for it, may ask its list. */
export function clientOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClientRef | null> {
  return parentLink(session, ctx, async () => {
    const id = session.clientId ?? (await foundClientOf(session, ctx));
    return id ? { kind: 'client', id, open: false, above: true } : null;
  });
}

async function foundClientOf(session: SessionRef, ctx: Context) {
  if (session.named?.clientId) return (await find(session, ctx))?.list.id;
  return ctx.hub.clientOfSession(session.id);
}

export function noteOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<NoteRef | null> {
  return requireAccess(session, ctx, () =>
    whenLoaded(ctx.loaders.noteOfSession(session.id), (record) =>
      record ? noteRef(record, session, ctx) : null,
    ),
  );
}

/** A note that is shown. Whose it is tells later which answers a change of it makes stale. */
export function noteRef(
  record: NoteRecord,
  session: SessionRef | undefined,
  ctx: Context,
): NoteRef {
  const sessionId = session?.id ?? record.sessionId ?? undefined;
  if (record.id) ctx.invalidation.noteRead(record.id, sessionId, session?.clientId);
  ctx.audit?.saw(`ProgressNote:${record.id ?? `session:${sessionId}`}`);
  return { kind: 'note', record, session };
}

export function transcriptOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<TranscriptRef | null> {
  return requireAccess(session, ctx, () =>
    whenLoaded(ctx.loaders.transcript(session.id), (record) => {
      if (record === 'not-ready') return null;
      ctx.audit?.saw(`Transcript:${session.id}`);
      return { kind: 'transcript', session, record };
    }),
  );
}

export function mdmOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<MdmRef | null> {
  return requireAccess(session, ctx, () =>
    whenLoaded(ctx.loaders.mdm(session.id), (record) => {
      if (record === 'not-ready') return null;
      ctx.audit?.saw(`MDM:${session.id}`);
      return { kind: 'mdm', session, record };
    }),
  );
}

/** By its own global id, which names the session. */
export async function transcriptById(
  session: SessionRef,
  ctx: Context,
): Promise<TranscriptRef | null> {
  if (await isOpen(session, ctx)) return transcriptOfSession({ ...session, open: true }, {}, ctx);
  ctx.audit?.missed(`Transcript:${session.id}`);
  return null;
}

export async function mdmById(session: SessionRef, ctx: Context): Promise<MdmRef | null> {
  if (await isOpen(session, ctx)) return mdmOfSession({ ...session, open: true }, {}, ctx);
  ctx.audit?.missed(`MDM:${session.id}`);
  return null;
}

export type ArtifactStatus = 'READY' | 'NOT_READY' | 'FAILED';

export function transcriptStatus(session: SessionRef, _args: unknown, ctx: Context) {
  return requireAccess(session, ctx, () =>
    whenLoaded(ctx.loaders.transcript(session.id), (record) => statusOf(session, record, ctx)),
  );
}

export function mdmStatus(session: SessionRef, _args: unknown, ctx: Context) {
  return requireAccess(session, ctx, () =>
    whenLoaded(ctx.loaders.mdm(session.id), (record) => statusOf(session, record, ctx)),
  );
}

/** Without a transcript there is no note and no MDM either: a failed transcription fails them all. */
function statusOf(session: SessionRef, record: unknown, ctx: Context): Loaded<ArtifactStatus> {
  if (record !== 'not-ready') return 'READY';
  ctx.doNotCache();
  return whenLoaded(ctx.milestones.transcriptionFailed(session.id), (failed) =>
    failed ? 'FAILED' : 'NOT_READY',
  );
}
