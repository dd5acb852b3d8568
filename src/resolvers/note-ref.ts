import type { Context } from '../context.ts';
import type { Uuid } from '../uuid.ts';
import type { NoteRef } from './refs.ts';

const recorded = new WeakSet<object>();

/** A note that is shown; whose it is, is remembered on the way. */
export function noteRef(
  record: NoteRef['record'],
  sessionId: Uuid | undefined,
  ctx: Context,
): NoteRef {
  const note = noteMet(record, sessionId, ctx);
  ctx.audit?.saw(`ProgressNote:${record.id ?? `session:${note.sessionId}`}`);
  return note;
}

/** The same for one that is only looked at here. */
export function noteMet(
  record: NoteRef['record'],
  sessionId: Uuid | undefined,
  ctx: Context,
): NoteRef {
  const owner = sessionId ?? record.sessionId ?? undefined;
  if (record.id && owner && !recorded.has(record)) {
    recorded.add(record);
    const seenAt = Date.now();
    ctx.remember([{ child: `note:${record.id}`, parent: `session:${owner}`, seenAt }]);
  }
  return { kind: 'note', record, sessionId: owner };
}
