import type { Context } from '../context.ts';
import {
  NoteLocked,
  OutcomeUnknown,
  PartnerError,
  PartnerNotFound,
  PartnerRejected,
} from '../rest/errors.ts';
import type { Uuid } from '../uuid.ts';
import { noteRef } from './note-ref.ts';
import { proofOfNote } from './progress-note.ts';
import type { NoteRef } from './refs.ts';

/** What became of a change, as data: everything that a person can act on. */
export type ChangeOutcome = NoteChange | Refused;

export interface NoteChange extends Accepted, Note {}

interface Note {
  readonly noteId: Uuid;
  readonly sessionId: Uuid | undefined;
}

/** What may be remembered of a change under its key: no note, and nothing about who asked. */
export type Deed = Accepted | Refused;

interface Accepted {
  readonly kind: 'changed';
  /** The log's position just before the change. */
  readonly cursor: string;
  /** The Partner API's answer. */
  readonly raw: unknown;
}

type Refused =
  | { readonly kind: 'locked' }
  | { readonly kind: 'invalid'; readonly issues: readonly string[] }
  | { readonly kind: 'missing' };

export interface NoteTarget {
  readonly id: Uuid;
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

interface Write {
  readonly send: () => Promise<unknown>;
  /** Does it, or finds out what came of it when it was done before. */
  readonly once?: (perform: () => Promise<Deed>) => Promise<Deed>;
}

/**
 * One change of one note: proven to be the viewer's, sent once, and forgotten by every cache before it is told. The
 * proof is each caller's own, also where the deed was another's: a viewer may have lost access since.
 */
export async function changeNote(
  target: NoteTarget,
  write: Write,
  ctx: Context,
): Promise<ChangeOutcome> {
  const proof = await proofOfNote(target, ctx);
  if (!proof) return { kind: 'missing' };
  const note = { noteId: target.id, sessionId: proof.sessionId };
  const perform = () => performed(note, write, ctx);
  const deed = await (write.once ? write.once(perform) : perform());
  return deed.kind === 'changed' ? { ...deed, ...note } : deed;
}

async function performed(note: Note, write: Write, ctx: Context): Promise<Deed> {
  const cursor = ctx.hub().newestCursor();
  let raw: unknown;
  try {
    raw = await write.send();
  } catch (error) {
    const isCertain = error instanceof PartnerError && !(error instanceof OutcomeUnknown);
    // It may have taken effect: then its event is still to come, and the caches may be wrong.
    if (!isCertain) await ctx.invalidation.noteChanged(note);
    return refusalOf(error, note, ctx);
  }
  await ctx.invalidation.noteChanged(note);
  return { kind: 'changed', cursor, raw };
}

async function refusalOf(error: unknown, note: Note, ctx: Context): Promise<Refused> {
  if (error instanceof NoteLocked) {
    await ifPossible(ctx.milestones().markLocked(note.noteId));
    await ctx.invalidation.noteChanged(note);
    return { kind: 'locked' };
  }
  if (error instanceof PartnerRejected) return { kind: 'invalid', issues: error.issues };
  if (error instanceof PartnerNotFound) return { kind: 'missing' };
  throw error;
}

/** What the Partner API answered is told even if the store, which was there a moment ago, can't note it. */
const ifPossible = async (noting: Promise<void>): Promise<void> => noting.catch(() => undefined);

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
