import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

import { derivedKey } from '../sealed-text.ts';
import type { NoteName, NoteTarget } from '../resolvers/artifacts.ts';
import { BadInput } from '../bad-input.ts';
import type { ListedRef, NodeType, Parents, ScoreRef } from '../resolvers/refs.ts';
import { type Uuid, toUuid } from '../uuid.ts';

interface WithClient {
  readonly clientId?: Uuid | undefined;
}

/**
 * The content of a global id: the record and its permanent parents. A session never changes its client, nor a note its
 * session, so an id locates its record on every instance without a store.
 */
export type NodeId =
  | { readonly type: PlainType; readonly id: Uuid }
  | ({ readonly type: 'Session'; readonly id: Uuid } & WithClient)
  | ({ readonly type: 'AssessmentScore'; readonly id: Uuid } & WithClient)
  | ({
      readonly type: 'ProgressNote' | 'Transcript' | 'MDM';
      readonly sessionId: Uuid;
    } & WithClient)
  | { readonly type: 'ProgressNote'; readonly noteId: Uuid }
  | { readonly type: 'Assessment'; readonly clinicId: Uuid; readonly id: string }
  | { readonly type: 'MagicEdit'; readonly clinicianId: Uuid; readonly id: Uuid };

type PlainType = 'Organization' | 'Clinic' | 'Program' | 'Clinician' | 'Client';

type IdFields = Readonly<
  Partial<Record<'id' | 'sessionId' | 'noteId' | keyof Parents, string | undefined>>
>;

export type GlobalIds = ReturnType<typeof createGlobalIds>;

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
export function createGlobalIds(secret: string, previousSecret?: string) {
  const sign = createMac(derivedKey(secret, 'global id'));
  const previous = previousSecret && createMac(derivedKey(previousSecret, 'global id'));

  const isSigned = (body: Buffer, mac: Buffer): boolean =>
    timingSafeEqual(sign(body), mac) || (previous ? timingSafeEqual(previous(body), mac) : false);

  return {
    /** Also takes a record with the fields of its id. */
    encode(node: NodeId | ListedRef | ScoreRef): string {
      const body = bytesOf(node);
      return isPlain(body)
        ? body.toString('base64url')
        : Buffer.concat([body, sign(body)]).toString('base64url');
    },
    /** Undefined for an id that this gateway did not issue. */
    decode(text: string): NodeId | undefined {
      if (text.length > MAX_LENGTH) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      // The decoder skips characters outside base64url, so only the exact output of `encode` is accepted.
      if (bytes.length <= UUID_BYTES || bytes.toString('base64url') !== text) return undefined;
      if (isPlain(bytes)) return nodeIdOf(bytes);
      const body = bytes.subarray(0, -MAC_BYTES);
      return isSigned(body, bytes.subarray(-MAC_BYTES)) ? nodeIdOf(body) : undefined;
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

function bytesOf(node: NodeId | ListedRef | ScoreRef): Buffer {
  const fields: IdFields = node;
  const code: Code = fields.noteId ? 'N' : CODES.get(node.type)!;
  const [, first, second] = LAYOUTS[code];
  const uuids = [fields[first], code !== 'Q' && second && fields[second]].filter(Boolean).join('');
  const bytes = Buffer.from(code.charCodeAt(0).toString(16) + uuids.replaceAll('-', ''), 'hex');
  return code === 'Q' ? Buffer.concat([bytes, Buffer.from(fields.id ?? '')]) : bytes;
}

function nodeIdOf(body: Buffer): NodeId | undefined {
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
function decodeArgument(type: NodeType, argument: string, text: string, ids: GlobalIds): NodeId {
  const node = ids.decode(text);
  if (node?.type === type) return node;
  throw new BadInput(`"${argument}" must be the id of a ${type}: its global id, or its UUID.`);
}

type NamedRecord = { readonly id: Uuid } & WithClient;

/** The record in an ID argument, which takes a global id of the right type or the bare UUID. */
export function namedBy(type: NodeType, argument: string, text: string, ids: GlobalIds) {
  const id = toUuid(text);
  return id ? ({ id } as NamedRecord) : (decodeArgument(type, argument, text, ids) as NamedRecord);
}

export const idOf = (type: PlainType, argument: string, text: string, ids: GlobalIds): Uuid =>
  namedBy(type, argument, text, ids).id;

const PARENT_TYPES = {
  organizationId: 'Organization',
  clinicId: 'Clinic',
  clinicianId: 'Clinician',
  clientId: 'Client',
} as const;

type Named = Readonly<Partial<Record<keyof Parents | 'sessionId' | 'clientOfSession', Uuid>>>;
type NamingArgs = {
  readonly [K in keyof Parents | 'sessionId']?: string | null | undefined;
};

/** The parents, and the session, that the arguments name. The session's global id may say whose it is. */
export function namedIn(args: NamingArgs, ids: GlobalIds): Named {
  const named: { -readonly [K in keyof Named]: Named[K] } = {};
  if (typeof args.sessionId === 'string') {
    const { id, clientId } = namedBy('Session', 'sessionId', args.sessionId, ids);
    named.sessionId = id;
    if (clientId) named.clientOfSession = clientId;
  }
  for (const name of Object.keys(PARENT_TYPES) as (keyof typeof PARENT_TYPES)[]) {
    const text = args[name];
    if (typeof text === 'string') named[name] = idOf(PARENT_TYPES[name], name, text, ids);
  }
  return named;
}

/** A note by its session, as in its global id, or by its own UUID and the session in the arguments. */
export function noteTargetOf(
  argument: string,
  text: string,
  args: Pick<NamingArgs, 'sessionId' | 'clientId'>,
  ids: GlobalIds,
): NoteTarget {
  const noteId = toUuid(text);
  const name = noteId ? { noteId } : decodeArgument('ProgressNote', argument, text, ids);
  const { sessionId, clientOfSession, clientId = clientOfSession } = namedIn(args, ids);
  return { name: name as NoteName, sessionId, clientId };
}
