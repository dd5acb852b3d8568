import type { Context } from '../context.ts';
import { type ChangeOutcome, type NoteTarget, changeNote } from './note-change.ts';
import { told } from './unclear.ts';

interface Update extends NoteTarget {
  readonly patch: unknown;
}

/** The patch goes on as it is: the Partner API does not show what it takes, only that it is an object. */
export async function updateNote(
  { patch, ...target }: Update,
  ctx: Context,
): Promise<ChangeOutcome> {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    return { kind: 'invalid', issues: ['"patch" must be a JSON object.'] };
  }
  const send = () => ctx.partner.writes.updateNote(target.id, patch, ctx.usage);
  return told('read the note to see', () => changeNote(target, { send }, ctx));
}
