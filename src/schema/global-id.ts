import { type Mac, createMac, isSame } from '../sealed-text.ts';
import { BadInput } from '../errors.ts';
import { NAMED_TYPES, type NodeType, type Parents, kindOf } from '../resolvers/refs.ts';
import { type Uuid, toUuid } from '../uuid.ts';

/**
 * The content of a global id: the record and its permanent parents. A session never changes its client, nor a note its
 * session, so an id locates its record on every instance without a store.
 */
export interface NodeId extends Parents {
  readonly type: NodeType;
  readonly id?: string | undefined;
  readonly sessionId?: Uuid | undefined;
}

export type GlobalIds = ReturnType<typeof createGlobalIds>;

/** The first byte of an id, and the fields that follow it. The second one may be missing. */
type Layout = readonly [code: string, first: keyof NodeId, second?: keyof NodeId];
const LAYOUTS: Readonly<Record<NodeType, Layout>> = {
  Organization: ['O', 'id'],
  Clinic: ['K', 'id'],
  Program: ['R', 'id'],
  Clinician: ['D', 'id'],
  Client: ['C', 'id'],
  Session: ['S', 'id', 'clientId'],
  ProgressNote: ['P', 'sessionId', 'clientId'],
  Transcript: ['T', 'sessionId', 'clientId'],
  MDM: ['M', 'sessionId', 'clientId'],
  AssessmentScore: ['A', 'id', 'clientId'],
  Assessment: ['Q', 'clinicId', 'id'],
  MagicEdit: ['E', 'clinicianId', 'id'],
};
export const isNodeType = (name: string): name is NodeType => Object.hasOwn(LAYOUTS, name);
/** A note whose session is not known. */
const NOTE_ALONE: Layout = ['N', 'id'];
const ALL = [...Object.entries(LAYOUTS), ['ProgressNote', NOTE_ALONE]] as [NodeType, Layout][];

/** All other ids are UUIDs. */
const hasTextId = ({ type }: NodeId): boolean => type === 'Assessment';

const UUID_BYTES = 16;
const MAC_BYTES = 8;
const PURPOSE = 'global id';

/** Ids signed with `previousSecret` are accepted too, so that the secret can be rotated. */
export function createGlobalIds(secret: string, previousSecret?: string) {
  const mac = createMac(secret, PURPOSE);
  const accepted = previousSecret ? [mac, createMac(previousSecret, PURPOSE)] : [mac];
  return {
    /** Also takes a record with the fields of its id. */
    encode: (node: NodeId): string => encode(node, mac),
    /**
     * Undefined for an id that this gateway did not issue: only the exact output of `encode` is accepted. The Partner
     * API does not limit the identifier of an assessment, so only the request's size limits an id.
     */
    decode(text: string): NodeId | undefined {
      const node = contentOf(Buffer.from(text, 'base64url'));
      const isFrom = (each: Mac) =>
        node && isSame(Buffer.from(encode(node, each)), Buffer.from(text));
      return accepted.some(isFrom) ? node : undefined;
    },
  };
}

function encode(node: NodeId, mac: Mac): string {
  const isNoteAlone = node.type === 'ProgressNote' && !node.sessionId;
  const [code, first, second] = isNoteAlone ? NOTE_ALONE : LAYOUTS[node.type];
  const [secondUuid, text] = hasTextId(node) ? ['', node.id] : [second && node[second]];
  const hex = `${node[first] ?? ''}${secondUuid ?? ''}`.replaceAll('-', '');
  // One buffer: with several, an id takes 1.2 times as long.
  const bytes = Buffer.allocUnsafe(1 + hex.length / 2 + Buffer.byteLength(text ?? '') + MAC_BYTES);
  bytes[0] = code.charCodeAt(0);
  let length = 1 + bytes.write(hex, 1, 'hex');
  if (text) length += bytes.write(text, length);
  // The id of a type without parents is not signed.
  if (!second && !isNoteAlone) return bytes.toString('base64url', 0, length);
  bytes.write(mac(bytes.subarray(0, length)), length, MAC_BYTES, 'latin1');
  return bytes.toString('base64url', 0, length + MAC_BYTES);
}

/** Reads the content without verifying the signature. */
function contentOf(bytes: Buffer): NodeId | undefined {
  const known = ALL.find(([, [code]]) => code.charCodeAt(0) === bytes[0]);
  if (!known) return undefined;
  const [type, [, first, second]] = known;
  const firstId = uuidAt(bytes, 1);
  const rest = bytes.subarray(1 + UUID_BYTES, -MAC_BYTES);
  const secondId = hasTextId({ type }) ? rest.toString() : uuidAt(rest, 0);
  return firstId && { type, [first]: firstId, ...(second && { [second]: secondId }) };
}

function uuidAt(bytes: Buffer, at: number): Uuid | undefined {
  const hex = bytes.toString('hex', at, at + UUID_BYTES);
  return toUuid(hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}

/** The session in the id of a note, transcript or MDM. */
export const sessionIn = ({ sessionId: id, clientId }: NodeId) =>
  id && { type: 'Session' as const, id, clientId };

/** The record in an ID argument, which takes a global id of the right type or the bare UUID. */
export function parseId(type: NodeType, argument: string, text: string, ids: GlobalIds) {
  const id = toUuid(text);
  const node = id ? { type, id } : ids.decode(text);
  if (node?.type === type) return node as NodeId & { readonly id: Uuid };
  throw new BadInput(`"${argument}" must be a global id of type ${type}, or a UUID.`);
}

/** An argument that names a parent of a record. */
export type ParentName = keyof Parents | 'sessionId';
type ParentArgs = { readonly [K in ParentName]?: string | null | undefined };
const PARENT_ARGS = NAMED_TYPES.map((type) => [type, `${kindOf(type)}Id`] as const);

/** The parents and the session that the arguments name. `sessionClientId` is the client in the session's global id. */
export function parseParentIds(args: ParentArgs, ids: GlobalIds) {
  const parsed: Partial<Record<ParentName | 'sessionClientId', Uuid>> = {};
  for (const [type, name] of PARENT_ARGS) {
    const text = args[name];
    if (typeof text !== 'string') continue;
    const { id, clientId } = parseId(type, name, text, ids);
    parsed[name] = id;
    // Of these ids only a session's has a client.
    if (clientId) parsed.sessionClientId = clientId;
  }
  return parsed;
}

const differ = (a?: Uuid, b?: Uuid): boolean => a !== undefined && b !== undefined && a !== b;

/** A note by its global id, or by its own UUID and the session in the arguments. */
export function noteTargetOf(argument: string, text: string, args: ParentArgs, ids: GlobalIds) {
  const note: NodeId & { readonly id?: Uuid } = parseId('ProgressNote', argument, text, ids);
  const { sessionId = note.sessionId, sessionClientId, clientId } = parseParentIds(args, ids);
  // In the id of a note or session the client is signed, so no list has to confirm it.
  const signedClientId = note.clientId ?? sessionClientId;
  const clientIds = [clientId, sessionClientId];
  if (differ(sessionId, note.sessionId) || clientIds.some((id) => differ(id, signedClientId)))
    throw new BadInput(`"sessionId" and "clientId" must be those of "${argument}".`);
  const session = sessionIn({ ...note, sessionId, clientId: signedClientId });
  return { noteId: note.id, session: session && { ...session, namedParents: { clientId } } };
}
