import { hash } from 'node:crypto';

import { BadInput, NotFound, missingArgument } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { endpoints } from '../../rest/records.ts';
import { cachePathOf } from '../../rest/lists.ts';
import { NoteLocked } from '../../rest/errors.ts';
import { writes } from '../../rest/writes.ts';
import { isObject } from '../../json.ts';
import type { Uuid } from '../../uuid.ts';
import { opened } from '../access/prove.ts';
import { type NoteTarget, auditedTarget, noteRef, requireClient } from '../artifacts.ts';
import type { NoteRef, SessionRef } from '../refs.ts';
import { type Rejected, answerAbout, auditedWrite, rejectionOf } from './write.ts';

export interface NoteChange {
  readonly kind: 'changed';
  readonly noteId: Uuid;
  /** The log's position just before the change. */
  readonly cursor: string;
  /** The Partner API's answer. */
  readonly raw: unknown;
  /** Not stored under an idempotency key, like everything about the viewer. */
  readonly session?: SessionRef | undefined;
}
type ChangeOutcome = NoteChange | Rejected;

type Key = string | null | undefined;

const MAX_INSTRUCTIONS = 5_000;
const MAX_KEY_LENGTH = 200;
const AWAIT_EVENT = 'await its progress_note_regenerated event before sending it again';

/** Trimmed as the Partner API does, so that input that can't succeed is never sent. */
export function magicEdit(
  target: NoteTarget,
  input: { readonly userInstructions: string; readonly idempotencyKey?: Key },
  ctx: Context,
): Promise<ChangeOutcome> {
  const userInstructions = input.userInstructions.trim();
  return changeNote(target, ctx, {
    action: 'magicEdit',
    hint: AWAIT_EVENT,
    issues: instructionIssues(userInstructions),
    send: (noteId) => ctx.partner.send(writes.magicEdit, noteId, { userInstructions }, ctx.usage),
    key: input.idempotencyKey,
    input: userInstructions,
  });
}

export function regenerateNote(
  target: NoteTarget,
  input: { readonly idempotencyKey?: Key },
  ctx: Context,
): Promise<ChangeOutcome> {
  return changeNote(target, ctx, {
    action: 'regenerateProgressNote',
    hint: AWAIT_EVENT,
    send: (noteId) => ctx.partner.send(writes.regenerate, noteId, undefined, ctx.usage),
    key: input.idempotencyKey,
  });
}

/** The patch is sent unchanged: the Partner API does not document it, only that it is an object. */
export function updateNote(
  target: NoteTarget,
  { patch }: { readonly patch?: unknown },
  ctx: Context,
): Promise<ChangeOutcome> {
  return changeNote(target, ctx, {
    action: 'updateProgressNote',
    hint: 'read the note to see',
    issues: patchIssues(patch),
    send: (noteId) => ctx.partner.send(writes.updateNote, noteId, patch, ctx.usage),
  });
}

interface Change {
  /** The action's name in the audit log. */
  readonly action: string;
  /** What to do when the outcome is not known. */
  readonly hint: string;
  /** What is wrong with the input. */
  readonly issues?: readonly string[];
  readonly send: (noteId: Uuid) => Promise<unknown>;
  readonly key?: Key;
  /** What the key stands for, beside the action and the note. */
  readonly input?: string;
}

/**
 * Changes a note: proves access, sends the change once, and invalidates every cache before it returns. Each caller
 * proves its own access, even with a used idempotency key: a viewer may have lost access since.
 */
function changeNote(target: NoteTarget, ctx: Context, change: Change): Promise<ChangeOutcome> {
  const { session } = target;
  const { type, id } = auditedTarget(target);
  const about = { ...change, record: `${type}:${id}` };
  return auditedWrite<ChangeOutcome>(about, ctx, async () => {
    const issues = [...(change.issues ?? []), ...keyIssues(change.key)];
    if (issues.length > 0) return { kind: 'invalid', issues };
    if (!session && !ctx.reach.isPartner) throw missingArgument('`sessionId` and `clientId`');
    const open = session && (await opened(session, ctx));
    if (session && !open) return { kind: 'missing' };
    const outcome = await onceByKey({ ...target, session: open }, change, ctx).catch(rejectionOf);
    return outcome.kind === 'changed' ? { ...outcome, session: open } : outcome;
  });
}

/**
 * The Partner API has no idempotency keys, so they are stored here. A key belongs to the viewer's subject, not to the
 * grants: a token renewed with another grant before a retry must not repeat the edit. The note and its session are
 * compared as the client named them: the note may have been renamed.
 */
async function onceByKey(
  target: NoteTarget,
  { key, action, input = '', send }: Change,
  ctx: Context,
): Promise<ChangeOutcome> {
  const run = () => perform(target, send, ctx);
  if (typeof key !== 'string') {
    await ctx.store.bus.check();
    return run();
  }
  const { noteId = '', session } = target;
  const fingerprint = digest([action, noteId, session?.id ?? '', input]);
  return ctx.runOnce(`once:${digest([ctx.viewer.subject, key])}`, fingerprint, run);
}

async function perform(
  target: NoteTarget,
  send: Change['send'],
  ctx: Context,
): Promise<ChangeOutcome> {
  const noteId = await currentNoteId(target, ctx);
  const cursor = ctx.hub.cursorAt(ctx.hub.position);
  try {
    const { id, clientId, namedParents } = target.session ?? {};
    const raw = answerAbout(await send(noteId), id, clientId ?? namedParents?.clientId);
    return { kind: 'changed', noteId, cursor, raw };
  } catch (error) {
    if (!(error instanceof NoteLocked)) throw error;
    await ctx.marks.markLocked(noteId);
    return { kind: 'locked' };
  } finally {
    // After a failure too: the change may have taken effect.
    await ctx.invalidation.invalidateEverywhere([
      endpoints.note.path(noteId),
      // Without a session, any answer in flight, or one without the note's id, may be of this note.
      target.session
        ? endpoints.noteOfSession.path(target.session.id)
        : endpoints.noteOfSession.template,
      cachePathOf({ name: 'magicEditsOfClinician' }),
    ]);
  }
}

/** The id to send to. A global id means the session's current note; a bare UUID means exactly that note. */
async function currentNoteId({ noteId, session }: NoteTarget, ctx: Context): Promise<Uuid> {
  if (!session) return noteId!;
  const record = await ctx.loaders.record(endpoints.noteOfSession, session.id, {
    fresh: true,
  });
  if (!record || (noteId && record.id !== noteId)) throw new NotFound();
  requireClient(endpoints.noteOfSession, session, record.clientId, ctx);
  if (record.id) return record.id;
  const why = record.isLoading ? 'is still being generated for the first time' : 'has no id';
  throw new BadInput(`"progressNoteId": the note ${why}.`);
}

/** Read without caches, by its session if known: a rewrite may have given it another id. */
export async function noteAfterChange(
  { noteId, session }: NoteChange,
  _args: unknown,
  ctx: Context,
): Promise<NoteRef | null> {
  const record = session
    ? await ctx.loaders.record(endpoints.noteOfSession, session.id, { fresh: true })
    : await ctx.loaders.record(endpoints.note, noteId, { fresh: true });
  return noteRef(record, session, ctx);
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

function patchIssues(patch: unknown): string[] {
  if (!isObject(patch)) return ['"patch" must be a JSON object.'];
  return isInexact(patch) ? ['"patch" must have no number beyond 2^53: it would lose digits.'] : [];
}

/** Such a number has lost digits when it was parsed. One that is too large for any number would be sent as null. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === 'object' && value !== null && Object.values(value).some(isInexact);

function keyIssues(key: Key): string[] {
  const fits = typeof key !== 'string' || (key.length > 0 && key.length <= MAX_KEY_LENGTH);
  return fits
    ? []
    : [`"idempotencyKey" must have 1 to ${MAX_KEY_LENGTH} characters, but got ${key.length}.`];
}

/** Only digests are stored: no viewer's name and no instructions. */
const digest = (parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');
