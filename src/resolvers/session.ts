import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { isOpenUnder } from './access.ts';
import { find } from './lookup.ts';
import { opened } from './opened.ts';
import { parentsOf } from './parents.ts';
import { noteRef } from './note-ref.ts';
import type { ClientRef, MdmRef, NoteRef, SessionRef, TranscriptRef } from './refs.ts';
import { upward } from './upward.ts';

interface SessionArgs {
  readonly id: Uuid;
  readonly clientId?: Uuid | undefined;
}

export function sessionById({ id, clientId }: SessionArgs, ctx: Context): Loaded<SessionRef> {
  const session: SessionRef = { kind: 'session', id, open: ctx.reach.isPartner };
  if (!clientId) return session;
  if (session.open) return { ...session, hint: { clientId } };
  // A hint is only a place to look: whoever may see the client still has to find the session there.
  const parent = { kind: 'client', id: clientId } as const;
  return whenLoaded(isOpenUnder('session', id, parent, ctx), (open) => ({ ...session, open }));
}

export function clientOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<ClientRef | null> {
  return upward(session, ctx, async () => {
    const [remembered] = session.clientId
      ? [{ id: session.clientId }]
      : await parentsOf('session', session.id, 'client', ctx);
    const id = remembered?.id ?? (await find(session, ctx))?.list.id;
    return id ? { kind: 'client', id, open: false, above: true } : null;
  });
}

export function noteOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<NoteRef | null> {
  return opened(session, ctx, () =>
    whenLoaded(ctx.loaders.noteOfSession(session.id), (record) =>
      record ? noteRef(record, session.id, ctx) : null,
    ),
  );
}

export function transcriptOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<TranscriptRef | null> {
  return opened(session, ctx, () =>
    whenLoaded(ctx.loaders.transcript(session.id), (record) =>
      record === 'not-ready' ? null : shown({ kind: 'transcript', session, record }, ctx),
    ),
  );
}

export function mdmOfSession(
  session: SessionRef,
  _args: unknown,
  ctx: Context,
): Loaded<MdmRef | null> {
  return opened(session, ctx, () =>
    whenLoaded(ctx.loaders.mdm(session.id), (record) =>
      record === 'not-ready' ? null : shown({ kind: 'mdm', session, record }, ctx),
    ),
  );
}

function shown<R extends TranscriptRef | MdmRef>(artifact: R, ctx: Context): R {
  const type = artifact.kind === 'mdm' ? 'MDM' : 'Transcript';
  ctx.audit?.saw(`${type}:${artifact.session.id}`);
  return artifact;
}

export type ArtifactStatus = 'READY' | 'NOT_READY' | 'FAILED';

export function transcriptStatus(session: SessionRef, _args: unknown, ctx: Context) {
  return opened(session, ctx, () =>
    whenLoaded(ctx.loaders.transcript(session.id), (record) => statusOf(session, record, ctx)),
  );
}

export function mdmStatus(session: SessionRef, _args: unknown, ctx: Context) {
  return opened(session, ctx, () =>
    whenLoaded(ctx.loaders.mdm(session.id), (record) => statusOf(session, record, ctx)),
  );
}

/** Without a transcript there is no note and no MDM either: a failed transcription fails them all. */
function statusOf(session: SessionRef, record: unknown, ctx: Context): Loaded<ArtifactStatus> {
  if (record !== 'not-ready') return 'READY';
  return whenLoaded(ctx.milestones().transcriptionFailed(session.id), (failed) =>
    failed ? 'FAILED' : 'NOT_READY',
  );
}
