import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen } from './access/prove.ts';
import { missingArgument } from './errors.ts';
import type { NoteRef, SessionRef } from './refs.ts';
import { noteRef } from './session.ts';

/** A note by its session, as its global id names it, or by its own UUID, which a regeneration may change. */
export type NoteName =
  | { readonly noteId: Uuid }
  | { readonly sessionId: Uuid; readonly clientId?: Uuid | undefined };

export interface NamedSession {
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

/** The Partner API returns any note of the partner, so access has to be proven here for all other viewers. */
export function noteByName(
  name: NoteName,
  named: NamedSession,
  ctx: Context,
): Loaded<NoteRef | null> {
  const session = sessionOfName(name, named);
  const noteId = 'noteId' in name ? name.noteId : undefined;
  if (session) return noteInSession(session, noteId, ctx);
  if (!ctx.reach.isPartner || !noteId) {
    ctx.audit?.recordDenied(`ProgressNote:${noteId}`);
    throw missingArgument('`sessionId` and `clientId`');
  }
  return whenLoaded(ctx.loaders.note(noteId), (record) => {
    if (record) return noteRef(record, undefined, ctx);
    ctx.audit?.recordDenied(`ProgressNote:${noteId}`);
    return null;
  });
}

/** Undefined for a bare UUID without the session that it belongs to. */
export function sessionOfName(name: NoteName, named: NamedSession): SessionRef | undefined {
  if ('sessionId' in name) {
    return { kind: 'session', id: name.sessionId, clientId: name.clientId, open: false };
  }
  if (!named.sessionId) return undefined;
  return { kind: 'session', id: named.sessionId, named: { clientId: named.clientId }, open: false };
}

/** The arguments may be wrong: the session has to hold this very note. */
function noteInSession(
  session: SessionRef,
  noteId: Uuid | undefined,
  ctx: Context,
): Loaded<NoteRef | null> {
  return whenLoaded(isOpen(session, ctx), (open) =>
    whenLoaded(open ? ctx.loaders.noteOfSession(session.id) : undefined, (record) => {
      if (record && (!noteId || record.id === noteId)) {
        return noteRef(record, { ...session, open: true }, ctx);
      }
      ctx.audit?.recordDenied(`ProgressNote:${noteId ?? `session:${session.id}`}`);
      return null;
    }),
  );
}

/** Known from the id or the arguments; for `partner`, who needs no proof, also from the record. */
export function sessionOfNote({ session, record }: NoteRef): SessionRef | null {
  if (session) return session;
  return record.sessionId ? { kind: 'session', id: record.sessionId, open: true } : null;
}

/** True or unknown, never false: a note is finalized elsewhere, and its event may not have arrived yet. */
export function isNoteLocked(note: NoteRef, _args: unknown, ctx: Context): Loaded<true | null> {
  if (!note.record.id) return null;
  ctx.doNotCache();
  return whenLoaded(ctx.milestones.noteLocked(note.record.id), (locked) => (locked ? true : null));
}
