import type { Context } from '../context.ts';
import { type Loaded, whenLoaded } from '../loaded.ts';
import type { NoteRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen, liesUnderGrant } from './access.ts';
import { noteMet, noteRef } from './note-ref.ts';
import { type Parent, parentsOf } from './parents.ts';
import type { NoteRef, SessionRef } from './refs.ts';
import { sessionById } from './session.ts';

export interface NoteArgs {
  readonly id: Uuid;
  readonly sessionId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

/** The API hands any note to the partner: whose it is has to be proven before it is shown to anybody else. */
export function noteById(args: NoteArgs, ctx: Context): Loaded<NoteRef | null> {
  if (ctx.reach.isPartner) {
    return whenLoaded(ctx.loaders.note(args.id), (record) =>
      shownNote(record, undefined, args, ctx),
    );
  }
  return provenNote(args, ctx);
}

async function provenNote(args: NoteArgs, ctx: Context): Promise<NoteRef | null> {
  const proof = await proofOfNote(args, ctx);
  return shownNote(proof && (await ctx.loaders.note(args.id)), proof?.sessionId, args, ctx);
}

function shownNote(
  record: NoteRecord | undefined,
  sessionId: Uuid | undefined,
  { id }: NoteArgs,
  ctx: Context,
): NoteRef | null {
  if (record) return noteRef(record, sessionId, ctx);
  ctx.audit?.missed(`ProgressNote:${id}`);
  return null;
}

/** The note of a session that has none of its own id yet. */
export async function noteBySession(sessionId: Uuid, ctx: Context): Promise<NoteRef | null> {
  const session = await sessionById({ id: sessionId }, ctx);
  const record = (await isOpen(session, ctx)) && (await ctx.loaders.noteOfSession(sessionId));
  if (record) return noteRef(record, sessionId, ctx);
  ctx.audit?.missed(`ProgressNote:session:${sessionId}`);
  return null;
}

interface Proof {
  readonly sessionId: Uuid | undefined;
}

/**
 * Whose note it is, if the viewer may see it: known from the lineage, or from the session that a hint names. A note that
 * is known to be another's is looked for as one that nobody knows, so that the cost does not tell them apart.
 */
export async function proofOfNote(args: NoteArgs, ctx: Context): Promise<Proof | undefined> {
  const [known] = await parentsOf('note', args.id, 'session', ctx);
  if (ctx.reach.isPartner) return { sessionId: known?.id };
  if (known && (await liesUnderGrant('session', known.id, ctx))) return { sessionId: known.id };
  const { sessionId, clientId } = args;
  if (!sessionId || !(await isOpen(await sessionById({ id: sessionId, clientId }, ctx), ctx)))
    return undefined;
  if (known?.id === sessionId) return { sessionId };
  // The hint may lie: the session has to hold this very note.
  const record = await ctx.loaders.noteOfSession(sessionId);
  if (record?.id !== args.id) return undefined;
  noteMet(record, sessionId, ctx);
  return { sessionId };
}

/** Known from the proof or the record; to the partner, who needs no proof, the lineage may tell. */
export function sessionOfNote(
  { sessionId, record }: NoteRef,
  _args: unknown,
  ctx: Context,
): Loaded<SessionRef | null> {
  if (sessionId) return { kind: 'session', id: sessionId, open: true };
  return record.id ? whenLoaded(parentsOf('note', record.id, 'session', ctx), firstSession) : null;
}

const firstSession = ([known]: readonly Parent[]): SessionRef | null =>
  known ? { kind: 'session', id: known.id, open: true } : null;

/** True or unknown, never false: finalization happens elsewhere, and its event may still be on the way. */
export function isNoteLocked(note: NoteRef, _args: unknown, ctx: Context): Loaded<true | null> {
  if (!note.record.id) return null;
  return whenLoaded(ctx.milestones().noteLocked(note.record.id), (locked) =>
    locked ? true : null,
  );
}

/** A note by whichever name it has: its own id, or its session's while it has none. */
export function noteByName(
  name: { readonly noteId: Uuid } | { readonly noteOfSession: Uuid },
  hints: Omit<NoteArgs, 'id'>,
  ctx: Context,
): Loaded<NoteRef | null> {
  return 'noteId' in name
    ? noteById({ id: name.noteId, ...hints }, ctx)
    : noteBySession(name.noteOfSession, ctx);
}
