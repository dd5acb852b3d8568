import type { Context } from '../context.ts';
import { NoteLocked, OutcomeUnknown, PartnerNotFound, PartnerRejected } from '../rest/errors.ts';
import type { Position } from '../store/event-log.ts';
import type { Uuid } from '../uuid.ts';
import { noteRef } from './note-ref.ts';
import { proofOfNote } from './progress-note.ts';
import type { NoteRef } from './refs.ts';

/** What became of a change, as data: everything that a person can act on. */
export type ChangeOutcome =
  | NoteChange
  | { readonly kind: 'locked' }
  | { readonly kind: 'invalid'; readonly issues: readonly string[] }
  | { readonly kind: 'missing' };

export interface NoteChange {
  readonly kind: 'changed';
  readonly noteId: Uuid;
  readonly sessionId: Uuid | undefined;
  /** The log's position just before the change. */
  readonly before: Position;
  /** The Partner API's answer. */
  readonly raw: unknown;
}

export interface NoteTarget {
  readonly id: Uuid;
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

interface Write {
  readonly send: () => Promise<unknown>;
  /** A rewrite ends in a `progress_note_regenerated`, which must count as new although its key may have been seen. */
  readonly rewrites: boolean;
}

/** One change of one note: proven to be the viewer's, sent once, and forgotten by every cache before it is told. */
export async function changeNote(
  target: NoteTarget,
  write: Write,
  ctx: Context,
): Promise<ChangeOutcome> {
  const proof = await proofOfNote(target, ctx);
  if (!proof) return { kind: 'missing' };
  const note = { noteId: target.id, sessionId: proof.sessionId };
  const before = ctx.hub.position;
  if (write.rewrites) await ctx.store.log.arm(target.id);
  try {
    const raw = await write.send();
    await ctx.freshness.noteChanged(note);
    return { kind: 'changed', ...note, before, raw };
  } catch (error) {
    // It may have taken effect: then its event is still to come, and the caches may be wrong.
    if (error instanceof OutcomeUnknown) await ctx.freshness.noteChanged(note);
    else if (write.rewrites) await ctx.store.log.disarm(target.id);
    return outcomeOf(error, target.id, ctx);
  }
}

async function outcomeOf(error: unknown, noteId: Uuid, ctx: Context): Promise<ChangeOutcome> {
  if (error instanceof NoteLocked) {
    await ctx.milestones.markLocked(noteId);
    return { kind: 'locked' };
  }
  if (error instanceof PartnerRejected) return { kind: 'invalid', issues: error.issues };
  if (error instanceof PartnerNotFound) return { kind: 'missing' };
  throw error;
}

/** Read past every cache. A rewrite may have given it another id: then its session knows it. */
export async function noteAfterChange(
  { noteId, sessionId }: NoteChange,
  _args: unknown,
  ctx: Context,
): Promise<NoteRef | null> {
  const record =
    (await ctx.loaders.note(noteId, { fresh: true })) ??
    (sessionId && (await ctx.loaders.noteOfSession(sessionId, { fresh: true })));
  return record ? noteRef(record, sessionId, ctx) : null;
}

export const cursorBeforeChange = ({ before }: NoteChange, _args: unknown, ctx: Context): string =>
  ctx.hub.cursorAt(before);
