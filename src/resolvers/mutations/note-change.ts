import { hash } from 'node:crypto';

import { BadInput, NotFound, missingArgument } from '../../errors.ts';
import type { Context } from '../../context.ts';
import type { Endpoint } from '../../rest/endpoints.ts';
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

interface ChangeInput {
  readonly userInstructions?: string;
  readonly patch?: unknown;
  readonly idempotencyKey?: string | null | undefined;
}

const MAX_INSTRUCTIONS = 5_000;
const MAX_KEY_LENGTH = 200;
const AWAIT_EVENT = 'await its progress_note_regenerated event before sending it again';

/** What each change sends, what is wrong with its input, and what to do when the outcome is not known. */
const CHANGES = {
  magicEdit: (input: ChangeInput) => {
    const userInstructions = instructionsIn(input);
    const issues = instructionIssues(userInstructions);
    return { endpoint: writes.magicEdit, body: { userInstructions }, issues, hint: AWAIT_EVENT };
  },
  regenerateProgressNote: () => ({
    endpoint: writes.regenerate,
    body: undefined,
    issues: [],
    hint: AWAIT_EVENT,
  }),
  /** The patch is sent unchanged: the Partner API does not document it, only that it is an object. */
  updateProgressNote: ({ patch }: ChangeInput) => ({
    endpoint: writes.updateNote,
    body: patch,
    issues: patchIssues(patch),
    hint: 'read the note to see',
  }),
};

/** Trimmed as the Partner API does, so that input that can't succeed is never sent. */
const instructionsIn = ({ userInstructions = '' }: ChangeInput) => userInstructions.trim();

/**
 * Changes a note: proves access, sends the change once, and invalidates every cache before it returns. Each caller
 * proves its own access, even with a used idempotency key: a viewer may have lost access since.
 */
export function changeNote(
  action: keyof typeof CHANGES,
  target: NoteTarget,
  input: ChangeInput,
  ctx: Context,
): Promise<ChangeOutcome> {
  const { endpoint, body, issues: bodyIssues, hint } = CHANGES[action](input);
  const { type, id } = auditedTarget(target);
  const about = { action, record: `${type}:${id}`, hint };
  return auditedWrite<ChangeOutcome>(about, ctx, async () => {
    const issues = [...bodyIssues, ...keyIssues(input.idempotencyKey)];
    if (issues.length > 0) return { kind: 'invalid', issues };
    if (!target.session && !ctx.reach.isPartner) {
      throw missingArgument('`sessionId` and `clientId`');
    }
    const session = target.session && (await opened(target.session, ctx));
    if (target.session && !session) return { kind: 'missing' };
    const run = () => perform({ ...target, session }, endpoint, body, ctx);
    const named = [action, target.noteId ?? '', session?.id ?? '', instructionsIn(input)];
    const outcome = await onceByKey(input.idempotencyKey, named, run, ctx).catch(rejectionOf);
    return outcome.kind === 'changed' ? { ...outcome, session } : outcome;
  });
}

/**
 * The Partner API has no idempotency keys, so they are stored here. A key belongs to the viewer's subject, not to the
 * grants: a token renewed with another grant before a retry must not repeat the edit. The note and its session are
 * compared as the client named them: the note may have been renamed.
 */
async function onceByKey(
  key: ChangeInput['idempotencyKey'],
  named: readonly string[],
  run: () => Promise<ChangeOutcome>,
  ctx: Context,
): Promise<ChangeOutcome> {
  if (typeof key === 'string')
    return ctx.runOnce(`once:${digest([ctx.viewer.subject, key])}`, digest(named), run);
  await ctx.store.bus.check();
  return run();
}

async function perform(
  target: NoteTarget,
  endpoint: Endpoint,
  body: unknown,
  ctx: Context,
): Promise<ChangeOutcome> {
  const noteId = await currentNoteId(target, ctx);
  const cursor = ctx.hub.cursorAt(ctx.hub.position);
  try {
    const { id, clientId, namedParents } = target.session ?? {};
    const answer = await ctx.partner.send(endpoint, noteId, body, ctx.usage);
    const raw = answerAbout(answer, id, clientId ?? namedParents?.clientId);
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
  const record = await ctx.loaders.record(endpoints.noteOfSession, session.id, { fresh: true });
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

function keyIssues(key: ChangeInput['idempotencyKey']): string[] {
  const fits = typeof key !== 'string' || (key.length > 0 && key.length <= MAX_KEY_LENGTH);
  return fits
    ? []
    : [`"idempotencyKey" must have 1 to ${MAX_KEY_LENGTH} characters, but got ${key.length}.`];
}

/** Only digests are stored: no viewer's name and no instructions. */
const digest = (parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');
