import type { Context } from '../context.ts';
import type { NoteRecord } from '../rest/records.ts';
import { steadyNow } from '../steady-clock.ts';
import type { Uuid } from '../uuid.ts';
import type { NoteRef } from './refs.ts';

/** A note that is shown; whose it is, is remembered on the way. */
export function noteRef(record: NoteRecord, sessionId: Uuid | undefined, ctx: Context): NoteRef {
  const note = noteMet(record, sessionId, ctx);
  ctx.audit?.saw(`ProgressNote:${record.id ?? `session:${note.sessionId}`}`);
  return note;
}

/** The same for one that is only looked at here. */
export function noteMet(record: NoteRecord, sessionId: Uuid | undefined, ctx: Context): NoteRef {
  const owner = sessionId ?? record.sessionId ?? undefined;
  if (record.metUnder !== (owner ?? 'nobody')) {
    record.metUnder = owner ?? 'nobody';
    if (record.id) takeNote(record.id, owner, ctx);
  }
  return { kind: 'note', record, sessionId: owner };
}

function takeNote(noteId: Uuid, owner: Uuid | undefined, ctx: Context): void {
  ctx.invalidation.noteMet(noteId, owner);
  if (!owner) return;
  ctx.remember([{ child: `note:${noteId}`, parent: `session:${owner}`, seenAt: steadyNow() }]);
}
