import { hash } from 'node:crypto';

import { BadInput, NotFound, missingArgument } from '../../errors.ts';
import type { Context } from '../../context.ts';
import { type Endpoint, writes } from '../../rest/endpoints.ts';
import { endpoints } from '../../rest/records.ts';
import { cachePathOf } from '../../rest/lists.ts';
import { NoteLocked } from '../../rest/errors.ts';
import { isObject } from '../../json.ts';
import type { Uuid } from '../../uuid.ts';
import { opened } from '../access/prove.ts';
import { type NoteTarget, auditedTarget, clientIdOf, noteRecord } from '../artifacts.ts';
import type { SessionRef } from '../refs.ts';
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
  readonly userInstructions?: string | undefined;
  readonly patch?: unknown;
  readonly idempotencyKey?: string | null | undefined;
}

const { note, noteOfSession } = endpoints;
const MAX_INSTRUCTIONS = 5_000;
const MAX_KEY_LENGTH = 200;

/**
 * Changes a note: proves access, sends the change once, and invalidates every cache before it returns. Each caller
 * proves its own access, even with a used idempotency key: a viewer may have lost access since.
 */
export function changeNote(
  action: 'magicEdit' | 'regenerateProgressNote' | 'updateProgressNote',
  target: NoteTarget,
  input: ChangeInput,
  ctx: Context,
): Promise<ChangeOutcome> {
  const { idempotencyKey: key, patch } = input;
  // Trimmed as the Partner API does. The patch is sent unchanged: only that it is an object is documented.
  const userInstructions = input.userInstructions?.trim();
  const body = userInstructions === undefined ? patch : { userInstructions };
  const { type, id } = auditedTarget(target);
  return auditedWrite<ChangeOutcome>(action, `${type}:${id}`, ctx, async () => {
    const issues = issuesOf({ userInstructions, patch, idempotencyKey: key });
    if (issues.length > 0) return { kind: 'invalid', issues };
    if (!target.session && !ctx.reach.isPartner) {
      throw missingArgument('`sessionId` and `clientId`');
    }
    const session = target.session && (await opened(target.session, ctx));
    if (target.session && !session) return { kind: 'missing' };
    const run = () => perform({ ...target, session }, writes[action], body, ctx);
    if (typeof key !== 'string') await ctx.store.bus.check();
    // The note and its session are compared as the client named them: the note may have been renamed.
    const named = [action, target.noteId ?? '', session?.id ?? '', userInstructions ?? ''];
    // The Partner API has no idempotency keys. One belongs to the viewer's subject, not to the grants: a token renewed
    // with another grant before a retry must not repeat the edit.
    const once = () => ctx.runOnce(`once:${digest([ctx.viewer.subject, key])}`, digest(named), run);
    const outcome = await (typeof key === 'string' ? once() : run()).catch(rejectionOf);
    return outcome.kind === 'changed' ? { ...outcome, session } : outcome;
  });
}

async function perform(
  target: NoteTarget,
  endpoint: Endpoint,
  body: unknown,
  ctx: Context,
): Promise<ChangeOutcome> {
  const { session } = target;
  const noteId = await currentNoteId(target, ctx);
  const cursor = ctx.hub.cursorAt(ctx.hub.position);
  try {
    const answer = await ctx.partner.send(endpoint, noteId, body, ctx.usage);
    const raw = answerAbout(answer, session?.id, session && clientIdOf(session));
    return { kind: 'changed', noteId, cursor, raw };
  } catch (error) {
    if (!(error instanceof NoteLocked)) throw error;
    await ctx.marks.markLocked(noteId);
    return { kind: 'locked' };
  } finally {
    // After a failure too: the change may have taken effect.
    await ctx.invalidation.invalidateEverywhere([
      note.path(noteId),
      // Without a session, any answer in flight, or one without the note's id, may be of this note.
      session ? noteOfSession.path(session.id) : noteOfSession.template,
      cachePathOf({ name: 'magicEditsOfClinician' }),
    ]);
  }
}

/** The id to send to. A global id means the session's current note; a bare UUID means exactly that note. */
async function currentNoteId({ noteId, session }: NoteTarget, ctx: Context): Promise<Uuid> {
  if (!session) return noteId!;
  const record = await noteRecord({ session }, ctx, true);
  if (!record || (noteId && record.id !== noteId)) throw new NotFound();
  ctx.loaders.requireSame(noteOfSession, session.id, record.clientId, clientIdOf(session));
  if (record.id) return record.id;
  const why = record.isLoading ? 'is still being generated for the first time' : 'has no id';
  throw new BadInput(`"progressNoteId": the note ${why}.`);
}

/** What is wrong with the input: it is not sent if it can't succeed. Of instructions an emoji counts as one character. */
function issuesOf({ userInstructions, patch, idempotencyKey: key }: ChangeInput): string[] {
  const issues: string[] = [];
  const count = Array.from(userInstructions ?? '').length;
  if (userInstructions === '') issues.push('"userInstructions" must not be empty.');
  else if (userInstructions?.includes('\0'))
    issues.push('"userInstructions" must be text, without NUL characters.');
  else if (count > MAX_INSTRUCTIONS)
    issues.push(
      `"userInstructions" must have at most ${MAX_INSTRUCTIONS} characters, but got ${count}.`,
    );
  if (patch !== undefined && !isObject(patch)) issues.push('"patch" must be a JSON object.');
  else if (isInexact(patch))
    issues.push('"patch" must have no number beyond 2^53: it would lose digits.');
  if (key === '' || (key && key.length > MAX_KEY_LENGTH))
    issues.push(
      `"idempotencyKey" must have 1 to ${MAX_KEY_LENGTH} characters, but got ${key.length}.`,
    );
  return issues;
}

/** Such a number has lost digits when it was parsed. One that is too large for any number would be sent as null. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === 'object' && value !== null && Object.values(value).some(isInexact);

/** Only digests are stored: no viewer's name and no instructions. */
const digest = (parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');
