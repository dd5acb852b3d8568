import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access.ts';
import type { AssessmentRef, ListedRef, MagicEditRef, MdmRef, TranscriptRef } from './refs.ts';
import { mdmOfSession, sessionById, transcriptOfSession } from './session.ts';

/** A record named by its id alone: whether it is there, and the viewer's, shows when a field asks. */
export function listedById<K extends ListedRef['kind']>(kind: K, id: Uuid, ctx: Context) {
  return { kind, id, open: ctx.reach.isPartner };
}

export async function transcriptById(sessionId: Uuid, ctx: Context): Promise<TranscriptRef | null> {
  const session = await sessionById({ id: sessionId }, ctx);
  if (await isOpen(session, ctx)) return transcriptOfSession(session, {}, ctx);
  ctx.audit?.missed(`Transcript:${sessionId}`);
  return null;
}

export async function mdmById(sessionId: Uuid, ctx: Context): Promise<MdmRef | null> {
  const session = await sessionById({ id: sessionId }, ctx);
  if (await isOpen(session, ctx)) return mdmOfSession(session, {}, ctx);
  ctx.audit?.missed(`MDM:${sessionId}`);
  return null;
}

export function assessmentById(
  clinicId: Uuid,
  id: string,
  ctx: Context,
): Loaded<AssessmentRef | null> {
  return whenLoaded(isOpen(listedById('clinic', clinicId, ctx), ctx), (open) =>
    open ? { kind: 'assessment', id, clinicId } : null,
  );
}

export function magicEditById(
  clinicianId: Uuid,
  id: Uuid,
  ctx: Context,
): Loaded<MagicEditRef | null> {
  return whenLoaded(isOpen(listedById('clinician', clinicianId, ctx), ctx), (open) =>
    open ? { kind: 'magic-edit', id, clinicianId } : null,
  );
}
