import { hash } from 'node:crypto';

import type { Context } from '../context.ts';
import { BadInput, CodedError, NotFound, StoreUnavailable, hasCode } from '../errors.ts';
import { type JsonObject, isObject } from '../json.ts';
import { secondaryCliniciansBody } from '../rest/assumed-names.ts';
import { type Endpoint, isOther, writes } from '../rest/endpoints.ts';
import { NoteLocked, PartnerError, PartnerRejected } from '../rest/errors.ts';
import { cachePathOf } from '../rest/lists.ts';
import { recordEndpoints } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';
import { isOpen, asOpen } from './access/prove.ts';
import { type NoteTarget, auditedTarget, clientIdOf, noteRecord } from './artifacts.ts';
import { clientsOfClinician } from './lookup/places.ts';
import type { ClientRef, SessionRef } from './refs.ts';

export type Missing = { readonly kind: 'missing'; readonly message?: string };
export type Invalid = { readonly kind: 'invalid'; readonly issues: readonly string[] };

/** Expected failures of a change, which a person can act on. */
export type Rejected = Missing | Invalid | { readonly kind: 'locked' };

/** A rejection by the Partner API or by this gateway; any other error is thrown. */
function rejectionOf(error: unknown): Missing | Invalid {
  if (error instanceof PartnerRejected || error instanceof BadInput)
    return { kind: 'invalid', issues: error.issues };
  return missingOf(error);
}

function missingOf(error: unknown): Missing {
  if (error instanceof NotFound) return { kind: 'missing', message: error.message };
  if (hasCode(error, 'NOT_FOUND')) return { kind: 'missing' };
  throw error;
}

/** The Partner API's answer. Null if one of its ids is of another record: it must not be shown or stored. */
function answerAbout(raw: unknown, ids: Readonly<Record<string, Uuid | undefined>>): unknown {
  const body = isObject(raw) ? raw : {};
  const isForeign = Object.entries(ids).some(([name, id]) => id && isOther(body[name], id));
  return isForeign ? null : raw;
}

/** A write may not be sent without the store and space for the audit log. */
const nothingSent = (reason: string) =>
  new CodedError('UPSTREAM_UNAVAILABLE', `Nothing was changed: this gateway can’t ${reason}.`);

const AWAIT_EVENT = 'await its progress_note_regenerated event before sending it again';
/** What to do when the outcome is not known. */
const ADVICE: Readonly<Record<keyof typeof writes, string>> = {
  magicEdit: AWAIT_EVENT,
  regenerateProgressNote: AWAIT_EVENT,
  updateProgressNote: 'read the note to see',
  assignSecondaryClinicians: 'send it again, which is safe',
  authenticateClinician: 'ask for another pair',
};

/**
 * Makes a change and audits it: one line before anything is sent and one with the outcome, so that a crash in between
 * is visible. A change that can't be audited is not made.
 */
async function auditedWrite<T extends { readonly kind: string }>(
  action: keyof typeof ADVICE,
  record: string,
  ctx: Context,
  write: () => Promise<T | Missing>,
): Promise<T | Missing> {
  const requireAudit = () => {
    if (!ctx.audit || !ctx.auditProblem()) return;
    throw nothingSent('write down who changes what. Try again in some minutes');
  };
  requireAudit();
  const audit = (outcome: string) => ctx.audit?.writeNow(`${action}: ${outcome}`, record);
  audit('asked for');
  ctx.loaders.clear();
  try {
    requireAudit(); // The line itself may have been the one that could not be written.
    const outcome = await write().catch(missingOf);
    audit(outcome.kind === 'missing' ? 'denied' : outcome.kind);
    return outcome;
  } catch (error) {
    const failure = clientErrorOf(error, ADVICE[action]);
    audit(failure instanceof CodedError ? failure.code : 'failed');
    throw failure;
  } finally {
    ctx.loaders.clear();
    ctx.seenPages.clear();
    ctx.lookups.clear();
  }
}

/** If the outcome is unknown, the message has the advice for this kind of write. */
function clientErrorOf(error: unknown, advice: string): unknown {
  if (error instanceof StoreUnavailable)
    return nothingSent('reach its own store. Try again in a moment');
  if (!(error instanceof PartnerError && error.code === 'OUTCOME_UNKNOWN')) return error;
  const message = `No clear answer came: the change may or may not have taken effect, so ${advice}.`;
  return new CodedError('OUTCOME_UNKNOWN', message);
}

export interface NoteChange {
  readonly kind: 'changed';
  readonly noteId: Uuid;
  /** The log's position just before the change. */
  readonly cursor: string;
  /** The Partner API's answer. */
  readonly raw: unknown;
  /** Like everything about the viewer, it is not stored under an idempotency key. */
  readonly session?: SessionRef | undefined;
}
type ChangeOutcome = NoteChange | Rejected;

interface ChangeInput {
  readonly userInstructions?: string | undefined;
  readonly patch?: unknown;
  readonly idempotencyKey?: string | null | undefined;
}

const { note, noteOfSession } = recordEndpoints;
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
    const issues = issuesOf(action, { userInstructions, patch, idempotencyKey: key });
    if (issues.length > 0) return { kind: 'invalid', issues };
    if (!target.session && !ctx.reach.isPartner)
      throw NotFound.without('`sessionId` and `clientId`');
    const session = target.session && (await asOpen(target.session, ctx));
    if (target.session && !session) return { kind: 'missing' };
    const run = () => sendChange({ ...target, session }, writes[action], body, ctx);
    // With a key, the claim shows that the store can be reached.
    if (typeof key !== 'string') await ctx.store.bus.check();
    // The fingerprint holds the note and session as the client named them: the note's id may have changed since.
    const named = [action, target.noteId ?? '', session?.id ?? '', userInstructions ?? ''];
    // The Partner API has no idempotency keys. One belongs to the viewer's subject, not to the grants: a token renewed
    // with another grant before a retry must not repeat the edit.
    const once = () => ctx.runOnce(`once:${digest([ctx.viewer.subject, key])}`, digest(named), run);
    const outcome = await (typeof key === 'string' ? once() : run()).catch(rejectionOf);
    return outcome.kind === 'changed' ? { ...outcome, session } : outcome;
  });
}

async function sendChange(target: NoteTarget, endpoint: Endpoint, body: unknown, ctx: Context) {
  const { session } = target;
  const noteId = await currentNoteId(target, ctx);
  const cursor = ctx.hub.cursorAt(ctx.hub.position);
  try {
    const answer = await ctx.partner.send(endpoint, noteId, body, ctx.usage);
    const clientId = session && clientIdOf(session);
    // A rewrite may give the note another id.
    const progressNoteId = endpoint === writes.updateProgressNote ? noteId : undefined;
    const ids = { progressNoteId, sessionId: session?.id, clientId, patientId: clientId };
    return { kind: 'changed', noteId, cursor, raw: answerAbout(answer, ids) } as const;
  } catch (error) {
    if (!(error instanceof NoteLocked)) throw error;
    await ctx.marks.markLocked(noteId);
    return { kind: 'locked' } as const;
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
  const record = await noteRecord({ session }, ctx, { fresh: true });
  if (!record || (noteId && record.id && record.id !== noteId)) throw new NotFound();
  ctx.loaders.requireSame(noteOfSession, session.id, record.clientId, clientIdOf(session));
  if (record.id) return record.id;
  const why = record.isLoading ? 'is still being generated for the first time' : 'has no id';
  throw new BadInput(`"progressNoteId": the note ${why}.`);
}

/** What is wrong with the input, which is then not sent. In instructions, an emoji counts as one character. */
function issuesOf(action: keyof typeof writes, input: ChangeInput): string[] {
  const { userInstructions, patch, idempotencyKey: key } = input;
  const issues: string[] = [];
  const must = (name: keyof ChangeInput, rule: string) => issues.push(`"${name}" must ${rule}`);
  const count = Array.from(userInstructions ?? '').length;
  if (action === 'magicEdit' && !userInstructions) must('userInstructions', 'not be empty.');
  else if (userInstructions?.includes('\0'))
    must('userInstructions', 'be text, without NUL characters.');
  else if (count > MAX_INSTRUCTIONS)
    must('userInstructions', `have at most ${MAX_INSTRUCTIONS} characters, but got ${count}.`);
  if (action === 'updateProgressNote' && !isObject(patch)) must('patch', 'be a JSON object.');
  else if (isInexact(patch)) must('patch', 'have no number beyond 2^53: it would lose digits.');
  if (key === '' || (key && key.length > MAX_KEY_LENGTH))
    must('idempotencyKey', `have 1 to ${MAX_KEY_LENGTH} characters, but got ${key.length}.`);
  return issues;
}

/** A number beyond 2^53 may have lost digits when it was parsed. One that became Infinity would be sent as null. */
const isInexact = (value: unknown): boolean =>
  typeof value === 'number'
    ? Math.abs(value) > Number.MAX_SAFE_INTEGER
    : typeof value === 'object' && value !== null && Object.values(value).some(isInexact);

/** Only digests are stored: no viewer's name and no instructions. */
const digest = (parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');

export type Minted = { readonly kind: 'minted'; readonly tokens: JsonObject };

/**
 * Returns one pair for one browser session: a refresh token that is used twice signs its clinician out everywhere. So a
 * pair is returned over plain HTTP only and is never stored, shared, sent again or logged.
 */
export function authenticateClinician(id: Uuid, ctx: Context): Promise<Minted | Missing> {
  return auditedWrite('authenticateClinician', `Clinician:${id}`, ctx, async () => {
    if (!ctx.operation.isPlainHttp)
      throw new BadInput('Clinician tokens are available over plain HTTP only.');
    if (!(await isOpen({ type: 'Clinician', id }, ctx))) return { kind: 'missing' };
    const tokens = await ctx.partner.send(writes.authenticateClinician, id, undefined, ctx.usage);
    return { kind: 'minted', tokens };
  });
}

const MAX_CLINICIANS = 50;

export type Assigned = Readonly<{ kind: 'assigned'; client: ClientRef; raw: unknown }>;

/** The client must be the viewer's; the clinicians need not be: a colleague is often in another clinic. */
export function assignSecondaryClinicians(clientId: Uuid, ids: readonly Uuid[], ctx: Context) {
  const clinicianIds = [...new Set(ids)];
  const { length } = clinicianIds;
  const assign = async (): Promise<Assigned | Invalid | Missing> => {
    if (length < 1 || length > MAX_CLINICIANS) {
      const issue = `"clinicianIds" must have 1 to ${MAX_CLINICIANS} items, but got ${length}.`;
      return { kind: 'invalid', issues: [issue] };
    }
    const client: ClientRef = { type: 'Client', id: clientId };
    if (!(await isOpen(client, ctx))) return { kind: 'missing' };
    await ctx.store.bus.check();
    try {
      const body = secondaryCliniciansBody(clinicianIds);
      const { partner, usage } = ctx;
      const answer = await partner.send(writes.assignSecondaryClinicians, clientId, body, usage);
      const raw = answerAbout(answer, { clientId, patientId: clientId });
      return { kind: 'assigned', client: { ...client, open: true }, raw };
    } catch (error) {
      return rejectionOf(error);
    } finally {
      // After a failure too: the change may have taken effect.
      const places = await ctx.places.of(clientId);
      const stale = [...clinicianIds.map(clientsOfClinician), ...places.map(({ list }) => list)];
      await ctx.invalidation.invalidateEverywhere(stale.map(cachePathOf));
    }
  };
  return auditedWrite('assignSecondaryClinicians', `Client:${clientId}`, ctx, assign);
}
