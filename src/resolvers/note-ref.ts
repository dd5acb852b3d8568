import type { Context } from '../context.ts';
import { steadyNow } from '../steady-clock.ts';
import type { Uuid } from '../uuid.ts';
import type { NoteRef } from './refs.ts';

interface Met {
  readonly note: NoteRef;
  /** As the audit calls it. */
  readonly name: string;
}

/** A note as the graph holds it, made once for as long as its record is kept. */
const met = new WeakMap<NoteRef['record'], Met>();

/** A note that is shown; whose it is, is remembered on the way. */
export function noteRef(
  record: NoteRef['record'],
  sessionId: Uuid | undefined,
  ctx: Context,
): NoteRef {
  const { note, name } = meet(record, sessionId, ctx);
  ctx.audit?.saw(name);
  return note;
}

/** The same for one that is only looked at here. */
export const noteMet = (
  record: NoteRef['record'],
  sessionId: Uuid | undefined,
  ctx: Context,
): NoteRef => meet(record, sessionId, ctx).note;

function meet(record: NoteRef['record'], sessionId: Uuid | undefined, ctx: Context): Met {
  const owner = sessionId ?? record.sessionId ?? undefined;
  const known = met.get(record);
  if (known && known.note.sessionId === owner) return known;
  if (record.id) ctx.freshness.noteMet(record.id, owner);
  if (record.id && owner) {
    const seenAt = steadyNow();
    ctx.remember([{ child: `note:${record.id}`, parent: `session:${owner}`, seenAt }]);
  }
  const note: NoteRef = { kind: 'note', record, sessionId: owner };
  const made = { note, name: `ProgressNote:${record.id ?? `session:${owner}`}` };
  met.set(record, made);
  return made;
}
