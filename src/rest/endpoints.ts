import { toUuid, type Uuid } from '../uuid.ts';
import { isObject, textOf, type JsonObject } from '../json.ts';

/** An answer names another record than the one that was requested: it must be neither shown nor cached. */
export const anotherRecord: unique symbol = Symbol('another record');

/** A route: how to call it, how to read its answers, and for how long they are valid. */
export interface Endpoint<T = unknown> {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Such as `/sessions/:sessionId/mdm`. */
  readonly template: string;
  /** How often it may be sent if an attempt may have taken effect: a property of the endpoint, not of the method. */
  readonly maxAttempts: number;
  /** A write is not aborted once sent, and fails with `OUTCOME_UNKNOWN` if it may have taken effect. */
  readonly isWrite: boolean;
  path(id: Uuid | undefined): string;
  /** Undefined if the body is not as promised. `page` is for lists. The body of a write is null if it is not JSON. */
  read(body: unknown, id: Uuid | undefined, page: number): T | typeof anotherRecord | undefined;
  ttlMs(value: T): number;
  /** A 404 is a normal answer: the record is null. */
  readonly isNullable?: true;
  /** The note's other path: a change may name only the note, or only its session. The template if it is not known. */
  otherPath?(value: T): string | undefined;
}

/** Only a UUID gets into a path: `encodeURIComponent('..')` is `..`, so encoding would let an id leave its template. */
export function endpoint<T>(
  method: Endpoint['method'],
  template: string,
  maxAttempts: number,
  read: Endpoint<T>['read'],
  ttlMs: (value: T) => number = () => 0,
): Endpoint<T> {
  const [before = '', after] = template.split(/:\w+/);
  const path = (id: Uuid | undefined): string => {
    if (after === undefined) return template;
    const uuid = toUuid(id);
    if (!uuid) throw new TypeError(`${template} needs a UUID, but got something else`);
    return before + uuid + after;
  };
  return { method, template, maxAttempts, isWrite: method !== 'GET', path, read, ttlMs };
}

/** Obtains the partner's token, and needs none. Repeated freely: a second token does not end the first. */
export const authenticate = {
  ...endpoint('POST', '/partners/authenticate', 3, readToken),
  isWrite: false,
};

/** The documented lifetime, for answers without one. */
const TOKEN_LIFETIME_S = 3_600;

export type PartnerToken = NonNullable<ReturnType<typeof readToken>>;
function readToken(body: unknown) {
  const { accessToken: value, expiresIn }: JsonObject = isObject(body) ? body : {};
  // Visible ASCII only, since it is sent in a header.
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) return undefined;
  const given = Number(expiresIn);
  // Less than a second can't be meant: each call would need a token of its own.
  const seconds = given >= 1 && given <= 24 * TOKEN_LIFETIME_S ? given : TOKEN_LIFETIME_S;
  return { value, lifetimeMs: seconds * 1_000 };
}

/** The answers are undocumented and passed on unchanged; null if the body is no JSON. */
const write = (method: 'POST' | 'PATCH', template: string, maxAttempts: number) =>
  endpoint(method, template, maxAttempts, (answer) => answer);

/** By the names of the mutations. The caller invalidates what they change. */
export const writes = {
  magicEdit: write('POST', '/progress-notes/:progressNoteId/magic-edit', 1),
  regenerateProgressNote: write('POST', '/progress-notes/:progressNoteId/regenerate', 1),
  updateProgressNote: write('PATCH', '/progress-notes/:progressNoteId', 2),
  /** Clinicians already assigned are skipped. */
  assignSecondaryClinicians: write('POST', '/clients/:clientId/secondary-clinicians', 3),
  /** One pair of tokens, to be passed on unchanged, names included. */
  authenticateClinician: endpoint('POST', '/clinicians/:clinicianId/authenticate', 1, (answer) =>
    isObject(answer) && isTokenPair(answer) ? answer : undefined,
  ),
};

/** Whether the pair has what the schema promises. The lifetime is a GraphQL Int: below 2^31. */
function isTokenPair({ AccessToken, RefreshToken, ExpiresIn }: JsonObject): boolean {
  const seconds = Number(ExpiresIn);
  return Boolean(textOf(AccessToken) && textOf(RefreshToken)) && seconds > 0 && seconds < 2 ** 31;
}

/** For lists and notes. Events and mutations invalidate what they change; this limits how stale the rest gets. */
export const CHANGING_TTL_MS = 5_000;

/** True if a value in the body is the id of a record other than the expected one. False if it is not a UUID. */
export const isOther = (value: unknown, expected: Uuid | undefined): boolean =>
  value !== expected && (toUuid(value) ?? expected) !== expected;
