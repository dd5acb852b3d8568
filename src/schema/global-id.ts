import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

import { derivedKey } from '../sealed-text.ts';
import { BadInput } from '../resolvers/errors.ts';
import type { NamedSession, NoteName } from '../resolvers/progress-note.ts';
import type { Parents } from '../resolvers/refs.ts';
import { type Uuid, toUuid } from '../uuid.ts';

/**
 * The content of a global id: the record and its permanent parents. A session never changes its client, nor a note its
 * session. So an id says where its record is, on every instance and without a store.
 */
export type NodeId =
  | { readonly type: PlainType; readonly id: Uuid }
  | { readonly type: 'Session'; readonly id: Uuid; readonly clientId?: Uuid | undefined }
  | {
      readonly type: SessionArtifact;
      readonly sessionId: Uuid;
      readonly clientId?: Uuid | undefined;
    }
  | { readonly type: 'ProgressNote'; readonly noteId: Uuid }
  | { readonly type: 'AssessmentScore'; readonly id: Uuid; readonly clientId?: Uuid | undefined }
  | { readonly type: 'Assessment'; readonly clinicId: Uuid; readonly id: string }
  | { readonly type: 'MagicEdit'; readonly clinicianId: Uuid; readonly id: Uuid };

type PlainType = 'Organization' | 'Clinic' | 'Program' | 'Clinician' | 'Client';
type SessionArtifact = 'ProgressNote' | 'Transcript' | 'MDM';
export type NodeType = NodeId['type'];

export interface GlobalIds {
  encode(node: NodeId): string;
  /** Undefined for an id that this gateway did not issue. */
  decode(text: string): NodeId | undefined;
}

/** The first byte of an id, and the fields that follow it. The second field of a signed id may be missing. */
const LAYOUTS = {
  O: ['Organization', 'id'],
  K: ['Clinic', 'id'],
  R: ['Program', 'id'],
  D: ['Clinician', 'id'],
  C: ['Client', 'id'],
  S: ['Session', 'id', 'clientId'],
  P: ['ProgressNote', 'sessionId', 'clientId'],
  /** A note whose session is not known. */
  N: ['ProgressNote', 'noteId'],
  T: ['Transcript', 'sessionId', 'clientId'],
  M: ['MDM', 'sessionId', 'clientId'],
  A: ['AssessmentScore', 'id', 'clientId'],
  Q: ['Assessment', 'clinicId', 'id'],
  E: ['MagicEdit', 'clinicianId', 'id'],
} as const satisfies Record<string, readonly [NodeType, string, string?]>;
type Code = keyof typeof LAYOUTS;
const CODES = new Map<string, Code>();
for (const code of Object.keys(LAYOUTS) as Code[]) {
  if (code !== 'N') CODES.set(LAYOUTS[code][0], code);
}
/** Ids without parents, which are not signed. */
const PLAIN: ReadonlySet<string> = new Set(['O', 'K', 'R', 'D', 'C']);

const UUID_BYTES = 16;
const MAC_BYTES = 8;
/** Longer than any issued id. The identifiers of assessments have at most a few hundred characters. */
const MAX_LENGTH = 1_024;

/** Ids signed with `previousSecret` are accepted too, so that the secret can be rotated. */
export function createGlobalIds(secret: string, previousSecret?: string): GlobalIds {
  const sign = createMac(derivedKey(secret, 'global id'));
  const previous = previousSecret && createMac(derivedKey(previousSecret, 'global id'));

  const isSigned = (body: Buffer, mac: Buffer): boolean =>
    timingSafeEqual(sign(body), mac) || (previous ? timingSafeEqual(previous(body), mac) : false);

  return {
    encode(node) {
      const body = bytesOf(node);
      return isPlain(body)
        ? body.toString('base64url')
        : Buffer.concat([body, sign(body)]).toString('base64url');
    },
    decode(text) {
      if (text.length > MAX_LENGTH) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      // The decoder skips characters outside base64url, so only the exact output of `encode` is accepted.
      if (bytes.length <= UUID_BYTES || bytes.toString('base64url') !== text) return undefined;
      if (isPlain(bytes)) return nodeOf(bytes);
      const body = bytes.subarray(0, -MAC_BYTES);
      return isSigned(body, bytes.subarray(-MAC_BYTES)) ? nodeOf(body) : undefined;
    },
  };
}

const isPlain = (bytes: Buffer): boolean => PLAIN.has(String.fromCharCode(bytes[0] ?? 0));

/** HMAC-SHA-256, truncated to eight bytes. With a key object, the key is parsed only once. */
function createMac(key: Buffer): (message: Buffer) => Buffer {
  const secretKey = createSecretKey(key);
  return (message) =>
    createHmac('sha256', secretKey).update(message).digest().subarray(0, MAC_BYTES);
}

type Fields = Readonly<Record<string, string | undefined>>;

function bytesOf(node: NodeId): Buffer {
  const code: Code = 'noteId' in node ? 'N' : CODES.get(node.type)!;
  const [, first, second = ''] = LAYOUTS[code];
  const fields: Fields = node;
  const start = [code.charCodeAt(0).toString(16), fields[first], code !== 'Q' && fields[second]];
  const bytes = Buffer.from(start.filter(Boolean).join('').replaceAll('-', ''), 'hex');
  return code === 'Q'
    ? Buffer.concat([bytes, Buffer.from(node.type === 'Assessment' ? node.id : '')])
    : bytes;
}

function nodeOf(body: Buffer): NodeId | undefined {
  const code = String.fromCharCode(body[0] ?? 0) as Code;
  const firstId = uuidAt(body, 1);
  if (!Object.hasOwn(LAYOUTS, code) || !firstId) return undefined;
  const [type, first, second] = LAYOUTS[code];
  const rest = body.subarray(1 + UUID_BYTES);
  const secondId = code === 'Q' ? rest.toString() : uuidAt(rest, 0);
  const isWhole =
    rest.length === 0
      ? second !== 'id'
      : second && secondId && (code === 'Q' || rest.length === UUID_BYTES);
  return isWhole
    ? ({ type, [first]: firstId, ...(second && { [second]: secondId }) } as unknown as NodeId)
    : undefined;
}

function uuidAt(bytes: Buffer, at: number): Uuid | undefined {
  const hex = bytes.toString('hex', at, at + UUID_BYTES);
  return toUuid(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`,
  );
}

/** The content of a global id in an argument, which must be of the right type. */
function decodeArgument<T extends NodeType>(
  type: T,
  argument: string,
  text: string,
  ids: GlobalIds,
) {
  const node = ids.decode(text);
  if (node?.type === type) return node as Extract<NodeId, { type: T }>;
  throw new BadInput(`"${argument}" must be the id of a ${type}: its global id, or its UUID.`);
}

/** The UUID in an ID argument, which takes a global id of the right type or the bare UUID. */
export const idOf = (type: PlainType, argument: string, text: string, ids: GlobalIds): Uuid =>
  toUuid(text) ?? (decodeArgument(type, argument, text, ids) as { readonly id: Uuid }).id;

const PARENT_TYPES = {
  organizationId: 'Organization',
  clinicId: 'Clinic',
  clinicianId: 'Clinician',
  clientId: 'Client',
} as const;

/** The parents that the arguments name. */
export function parentsOf(
  args: { readonly [K in keyof Parents]?: string | null | undefined },
  ids: GlobalIds,
): Parents {
  const parents: { -readonly [K in keyof Parents]: Uuid } = {};
  for (const name of Object.keys(PARENT_TYPES) as (keyof Parents)[]) {
    const text = args[name];
    if (typeof text === 'string') parents[name] = idOf(PARENT_TYPES[name], name, text, ids);
  }
  return parents;
}

/** The same for records whose global id may carry their client. */
export function idWithClientOf(
  type: 'Session' | 'AssessmentScore',
  argument: string,
  text: string,
  ids: GlobalIds,
): { readonly id: Uuid; readonly clientId?: Uuid | undefined } {
  const id = toUuid(text);
  return id ? { id } : decodeArgument(type, argument, text, ids);
}

/** A note by its session, as in its global id, or by its own UUID. */
export function noteNameOf(argument: string, text: string, ids: GlobalIds): NoteName {
  const noteId = toUuid(text);
  return noteId ? { noteId } : decodeArgument('ProgressNote', argument, text, ids);
}

/** The session named in the arguments, with the client named there or in the session's global id. */
export function namedSessionOf(
  args: { readonly [K in keyof NamedSession]: string | null | undefined },
  ids: GlobalIds,
): Required<NamedSession> {
  const { sessionId } = args;
  const session =
    typeof sessionId === 'string'
      ? idWithClientOf('Session', 'sessionId', sessionId, ids)
      : undefined;
  const { clientId = session?.clientId } = parentsOf({ clientId: args.clientId }, ids);
  return { sessionId: session?.id, clientId };
}
