import { BadInput } from '../resolvers/bad-input.ts';
import { type Uuid, toUuid } from '../uuid.ts';

/**
 * A global id holds the type and what names the record: its UUID; for an Assessment and a MagicEdit the list
 * it stands in as well; for a ProgressNote that has no id yet, its session's. The same record has the same id
 * whichever way it was reached, so nothing else goes in.
 */
export type NodeType =
  | 'Organization'
  | 'Clinic'
  | 'Program'
  | 'Clinician'
  | 'Client'
  | 'Session'
  | 'ProgressNote'
  | 'Transcript'
  | 'MDM'
  | 'Assessment'
  | 'AssessmentScore'
  | 'MagicEdit';

/** Longer than any id we make, and short enough to decode without a thought. */
const MAX_LENGTH = 512;

export interface GlobalId {
  readonly type: string;
  readonly parts: readonly string[];
}

export function encodeGlobalId(type: NodeType, ...parts: readonly string[]): string {
  return Buffer.from([type, ...parts].join(':')).toString('base64url');
}

/** The parts of a global id, or undefined for what this gateway can't have made. */
export function decodeGlobalId(text: string): GlobalId | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const bytes = Buffer.from(text, 'base64url');
  const [type, ...parts] = bytes.toString().split(':');
  const canonical = bytes.toString('base64url') === text.replace(/=+$/, '');
  return canonical && type && parts.length > 0 ? { type, parts } : undefined;
}

const badId = (argument: string, type: string) =>
  new BadInput(`"${argument}" must be the id of a ${type}: its global id, or its UUID.`);

/** An argument that names a record: the global id of the right type, or the bare UUID. */
export function idOf(type: NodeType, argument: string, text: string): Uuid {
  const bare = toUuid(text);
  if (bare) return bare;
  const global = decodeGlobalId(text);
  const uuid = global?.type === type && global.parts.length === 1 && toUuid(global.parts[0]);
  if (!uuid) throw badId(argument, type);
  return uuid;
}

export function optionalIdOf(
  type: NodeType,
  argument: string,
  text: string | null | undefined,
): Uuid | undefined {
  return text === null || text === undefined ? undefined : idOf(type, argument, text);
}

/** A note is named by its own id, or by its session's while it has none. */
export type NoteName = { readonly noteId: Uuid } | { readonly noteOfSession: Uuid };

export function noteNameOf(argument: string, text: string): NoteName {
  const bare = toUuid(text);
  if (bare) return { noteId: bare };
  const global = decodeGlobalId(text);
  if (global?.type !== 'ProgressNote' || global.parts[0] !== 'session') {
    return { noteId: idOf('ProgressNote', argument, text) };
  }
  const sessionId = toUuid(global.parts[1]);
  if (!sessionId || global.parts.length !== 2) throw badId(argument, 'ProgressNote');
  return { noteOfSession: sessionId };
}
