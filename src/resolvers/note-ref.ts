import type { Context } from '../context.ts';
import type { NoteRecord } from '../rest/records.ts';
import { steadyNow } from '../steady-clock.ts';
import type { Uuid } from '../uuid.ts';
import type { NoteRef } from './refs.ts';

/** A session's note that is shown; whose it is, is remembered on the way. */
export function noteRef(record: NoteRecord, sessionId: Uuid | undefined, ctx: Context): NoteRef {
  return shown(noteMet(record, sessionId, ctx), ctx);
}

/** The same for a note that was read by its id. */
export function noteRefById(
  record: NoteRecord,
  sessionId: Uuid | undefined,
  ctx: Context,
): NoteRef {
  const owner = ownerOf(record, sessionId);
  if (record.id && !isMet(record, owner)) ctx.freshness.noteCached(record.id, owner);
  return noteRef(record, sessionId, ctx);
}

/** A session's note that is only looked at here. */
export function noteMet(record: NoteRecord, sessionId: Uuid | undefined, ctx: Context): NoteRef {
  const owner = ownerOf(record, sessionId);
  if (!isMet(record, owner)) {
    record.metUnder = owner ?? 'nobody';
    if (record.id && owner) ctx.remember([linkOf(record.id, owner)]);
  }
  return { kind: 'note', record, sessionId: owner };
}

const ownerOf = (record: NoteRecord, sessionId: Uuid | undefined): Uuid | undefined =>
  sessionId ?? record.sessionId ?? undefined;

const isMet = (record: NoteRecord, owner: Uuid | undefined): boolean =>
  record.metUnder === (owner ?? 'nobody');

const linkOf = (noteId: Uuid, sessionId: Uuid) => ({
  child: `note:${noteId}`,
  parent: `session:${sessionId}`,
  seenAt: steadyNow(),
});

function shown(note: NoteRef, ctx: Context): NoteRef {
  ctx.audit?.saw(`ProgressNote:${note.record.id ?? `session:${note.sessionId}`}`);
  return note;
}
