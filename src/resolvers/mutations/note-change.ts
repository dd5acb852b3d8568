import { createHash } from 'node:crypto';

import type { Context } from '../../context.ts';
import { endpoints } from '../../rest/endpoints.ts';
import { pathOf } from '../../rest/lists.ts';
import { NoteLocked, OutcomeUnknown, PartnerError } from '../../rest/errors.ts';
import { KeyReused } from '../../store/once.ts';
import type { Uuid } from '../../uuid.ts';
import { isOpen } from '../access/prove.ts';
import { type NoteTarget, noteRef, sessionOfTarget } from '../artifacts.ts';
import { missingArgument } from '../errors.ts';
import type { NoteRef, SessionRef } from '../refs.ts';
import { type Rejected, auditedWrite, rejectionOf } from './write.ts';

type ChangeOutcome = NoteChange | Rejected;

export interface NoteChange extends Accepted {
  readonly session: SessionRef | undefined;
}

/** What is stored under an idempotency key: no note, and nothing about the viewer. */
type StoredOutcome = Accepted | Rejected;

interface Accepted {
  readonly kind: 'changed';
  readonly noteId: Uuid;
  /** The log's position just before the change. */
  readonly cursor: string;
  /** The Partner API's answer. */
  readonly raw: unknown;
}

interface IdempotentTarget extends NoteTarget {
  readonly idempotencyKey?: string | null | undefined;
}

const MAX_INSTRUCTIONS = 5_000;
const MAX_KEY_LENGTH = 200;
const AWAIT_EVENT = 'await its progress_note_regenerated event before sending it again';

/** Trimmed as the Partner API does, so that input that can't succeed is never sent. */
export function magicEdit(
  target: IdempotentTarget & { readonly userInstructions: string },
  ctx: Context,
): Promise<ChangeOutcome> {
  const instructions = target.userInstructions.trim();
  return changeNote(target, ctx, {
    action: 'magicEdit',
    hint: AWAIT_EVENT,
    issues: [...instructionIssues(instructions), ...keyIssues(target.idempotencyKey)],
    send: (noteId) => ctx.partner.writes.magicEdit(noteId, instructions, ctx.usage),
    input: ['magicEdit', JSON.stringify(target.name), instructions],
  });
}

export function regenerateNote(target: IdempotentTarget, ctx: Context): Promise<ChangeOutcome> {
  return changeNote(target, ctx, {
    action: 'regenerateProgressNote',
    hint: AWAIT_EVENT,
    issues: keyIssues(target.idempotencyKey),
    send: (noteId) => ctx.partner.writes.regenerate(noteId, ctx.usage),
    input: ['regenerate', JSON.stringify(target.name)],
  });
}

/** The patch is sent unchanged: the Partner API does not document it, only that it is an object. */
export function updateNote(
  { patch, ...target }: NoteTarget & { readonly patch?: unknown },
  ctx: Context,
): Promise<ChangeOutcome> {
  const isObject = typeof patch === 'object' && patch !== null && !Array.isArray(patch);
  return changeNote(target, ctx, {
    action: 'updateProgressNote',
    hint: 'read the note to see',
    issues: isObject ? [] : ['"patch" must be a JSON object.'],
    send: (noteId) => ctx.partner.writes.updateNote(noteId, patch, ctx.usage),
  });
}

interface Change {
  /** The action's name in the audit log. */
  readonly action: string;
  /** What to do when the outcome is not known. */
  readonly hint: string;
  /** What is wrong with the input. */
  readonly issues: readonly string[];
  readonly send: (noteId: Uuid) => Promise<unknown>;
  /** The input that an idempotency key stands for, as the client sent it: the note may have been renamed. */
  readonly input?: readonly string[];
}

/**
 * Changes a note: proves access, sends the change once, and invalidates every cache before it returns. Each caller
 * proves its own access, even with a used idempotency key: a viewer may have lost access since.
 */
function changeNote(
  target: IdempotentTarget,
  ctx: Context,
  { action, hint, issues, send, input = [] }: Change,
): Promise<ChangeOutcome> {
  const { name } = target;
  const record = `ProgressNote:${'noteId' in name ? name.noteId : `session:${name.sessionId}`}`;
  return auditedWrite<ChangeOutcome>({ action, record, hint }, ctx, async () => {
    if (issues.length > 0) return { kind: 'invalid', issues };
    const session = sessionOfTarget(target);
    if (!session && !ctx.reach.isPartner) throw missingArgument('`sessionId` and `clientId`');
    if (session && !(await isOpen(session, ctx))) return { kind: 'missing' };
    const run = () => perform(target, session, send, ctx);
    const key = target.idempotencyKey;
    const outcome = await (typeof key === 'string' ? onceByKey(key, input, run, ctx) : run());
    return outcome.kind === 'changed'
      ? { ...outcome, session: session && { ...session, open: true } }
      : outcome;
  });
}

async function perform(
  { name }: NoteTarget,
  session: SessionRef | undefined,
  send: Change['send'],
  ctx: Context,
): Promise<StoredOutcome> {
  const noteId = await currentNoteId(name, session, ctx);
  if (typeof noteId !== 'string') return noteId;
  const invalidate = async () => ctx.invalidation.changed(await stalePathsOf(noteId, session, ctx));
  const cursor = ctx.hub.newestCursor();
  try {
    const raw = await send(noteId);
    await invalidate();
    return { kind: 'changed', noteId, cursor, raw };
  } catch (error) {
    const isLocked = error instanceof NoteLocked;
    // The Partner API's answer is returned even if the store can't record the lock: the next attempt gets it again.
    if (isLocked) await ctx.milestones.markLocked(noteId).catch(() => undefined);
    const isCertain = error instanceof PartnerError && !(error instanceof OutcomeUnknown);
    // The change may have taken effect, and then cached answers are stale.
    if (isLocked || !isCertain) await invalidate();
    return isLocked ? { kind: 'locked' } : rejectionOf(error);
  }
}

/** Magic edits are listed by clinician, whom the change does not name, and the client's places may. Its event will. */
async function stalePathsOf(noteId: Uuid, session: SessionRef | undefined, ctx: Context) {
  const named = session?.clientId ?? session?.named?.clientId;
  const clientId = named ?? ctx.invalidation.clientOfNote(noteId);
  const places = clientId ? await ctx.places.of(clientId) : [];
  return [
    endpoints.note.path(noteId),
    ...(session ? [endpoints.noteOfSession.path(session.id)] : []),
    ...places.flatMap(({ list: { name, id } }) =>
      name === 'clientsOfClinician' ? [pathOf({ name: 'magicEditsOfClinician', id })] : [],
    ),
  ];
}

/** The id to send to. A global id means the session's current note; a bare UUID means exactly that note. */
async function currentNoteId(
  name: NoteTarget['name'],
  session: SessionRef | undefined,
  ctx: Context,
): Promise<Uuid | Rejected> {
  const bare = 'noteId' in name ? name.noteId : undefined;
  if (!session) return bare ?? { kind: 'missing' };
  const record = await ctx.loaders.noteOfSession(session.id, { fresh: true });
  if (bare) return record?.id === bare ? bare : { kind: 'missing' };
  if (record?.id) return record.id;
  if (!record) return { kind: 'missing' };
  return {
    kind: 'invalid',
    issues: ['"progressNoteId": the note is still being generated for the first time.'],
  };
}

/** Read without caches, by its session if known: a rewrite may have given it another id. */
export async function noteAfterChange(
  { noteId, session }: NoteChange,
  _args: unknown,
  ctx: Context,
): Promise<NoteRef | null> {
  const record = session
    ? await ctx.loaders.noteOfSession(session.id, { fresh: true })
    : await ctx.loaders.note(noteId, { fresh: true });
  return record ? noteRef(record, session, ctx) : null;
}

/**
 * The Partner API has no idempotency keys, so they are stored here. A key belongs to the viewer's subject, not to the
 * grants: a token renewed with another grant before a retry must not repeat the edit.
 */
async function onceByKey(
  key: string,
  input: readonly string[],
  run: () => Promise<StoredOutcome>,
  ctx: Context,
): Promise<StoredOutcome> {
  try {
    return await ctx.once(`once:${digest([ctx.viewer.subject, key])}`, digest(input), run);
  } catch (error) {
    if (!(error instanceof KeyReused)) throw error;
    return { kind: 'invalid', issues: ['"idempotencyKey" was used before, with other input.'] };
  }
}

/** Characters as people count them: an emoji is one. */
function instructionIssues(text: string): string[] {
  const count = Array.from(text).length;
  if (count === 0) return ['"userInstructions" must not be empty.'];
  if (text.includes('\0')) return ['"userInstructions" must be text, without NUL characters.'];
  return count > MAX_INSTRUCTIONS
    ? [`"userInstructions" must have at most ${MAX_INSTRUCTIONS} characters, but got ${count}.`]
    : [];
}

function keyIssues(key: string | null | undefined): string[] {
  const fits = typeof key !== 'string' || (key.length > 0 && key.length <= MAX_KEY_LENGTH);
  return fits
    ? []
    : [`"idempotencyKey" must have 1 to ${MAX_KEY_LENGTH} characters, but got ${key.length}.`];
}

/** Only digests are stored: no viewer's name and no instructions. */
const digest = (parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
