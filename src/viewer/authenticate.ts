import { hash } from 'node:crypto';
import { jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import { LRUCache } from 'lru-cache';
import type { AuthConfig } from '../config.ts';
import { grantsFromClaim } from './grants.ts';
import { createRemoteKeys } from './remote-keys.ts';
import { createViewer, SANDBOX_VIEWER, type Viewer } from './viewer.ts';

/** No valid token. What exactly is wrong with it is nobody's business: the message is always the same. */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated';
  readonly code = 'UNAUTHENTICATED';
  constructor() {
    super('A valid bearer token is wanted, but none came.');
  }
}

export interface Authenticator {
  /** The viewer whose token this is (`Bearer …`), or a rejection with `Unauthenticated`. */
  readonly authenticate: (authorization: string | undefined) => Promise<Viewer>;
}

export interface AuthenticatorOptions {
  /** The wall clock: that is what `exp` is about. */
  readonly now?: () => number;
  /** Goes only forward: for how long keys and viewers are remembered. */
  readonly elapsed?: () => number;
  readonly onKeysUnavailable?: () => void;
}

/** Node accepts 16 KiB of headers in all; a socket's token gets no more. */
const MAX_TOKEN_LENGTH = 16_384;
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const MAX_SUBJECT_LENGTH = 256;
/** The last second that a Date can hold. */
const LAST_SECOND = 8_640_000_000_000;
/** Verifying costs more than all the rest of a small query. A key that was withdrawn meanwhile works on for so long. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 10_000;

interface Remembered {
  readonly viewer: Viewer;
  readonly until: number;
}

export function createAuthenticator(
  auth: AuthConfig,
  { now = Date.now, elapsed = now, onKeysUnavailable = () => {} }: AuthenticatorOptions = {},
): Authenticator {
  if (auth.kind === 'open') return { authenticate: () => Promise.resolve(SANDBOX_VIEWER) };

  const verify = createVerifier(auth, now, elapsed, onKeysUnavailable);
  // By the token's hash, so that no memory dump holds tokens. Whose data: the viewer's own subject and grants.
  const remembered = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED });
  const underway = new Map<string, Promise<Viewer>>();

  const verifyOnce = async (token: string, key: string): Promise<Viewer> => {
    try {
      const viewer = viewerOf(await verify(token), now());
      remembered.set(key, { viewer, until: elapsed() + REMEMBERED_MS });
      return viewer;
    } catch {
      throw new Unauthenticated();
    } finally {
      underway.delete(key);
    }
  };

  return {
    authenticate: async (authorization) => {
      const token = bearerToken(authorization);
      if (token === undefined) throw new Unauthenticated();
      const key = hash('sha256', token, 'base64');
      const known = remembered.get(key);
      if (known && elapsed() < known.until && now() < (known.viewer.expiresAt ?? 0))
        return known.viewer;
      const pending = underway.get(key) ?? verifyOnce(token, key);
      underway.set(key, pending);
      return pending;
    },
  };
}

function bearerToken(authorization: unknown): string | undefined {
  if (typeof authorization !== 'string' || authorization.length > MAX_TOKEN_LENGTH)
    return undefined;
  return BEARER.exec(authorization.trim())?.[1];
}

type Verify = (token: string) => Promise<JWTPayload>;

function createVerifier(
  auth: Exclude<AuthConfig, { kind: 'open' }>,
  now: () => number,
  elapsed: () => number,
  onFailure: () => void,
): Verify {
  const key: JWTVerifyGetKey =
    auth.kind === 'secret'
      ? createSecretKey(auth.secret)
      : createRemoteKeys(auth.url, { now: elapsed, onFailure });
  // The algorithm is ours to say, never the token's: a public key must not pass for an HMAC secret.
  const algorithms = auth.kind === 'secret' ? ['HS256'] : ['RS256', 'PS256', 'ES256', 'EdDSA'];
  const options: JWTVerifyOptions = {
    algorithms,
    clockTolerance: 5,
    requiredClaims: ['exp', 'sub', 'grants'],
    ...(auth.issuer !== undefined && { issuer: auth.issuer }),
    ...(auth.audience !== undefined && { audience: auth.audience }),
  };
  return async (token) => {
    const currentDate = new Date(now());
    return (await jwtVerify(token, key, { ...options, currentDate })).payload;
  };
}

function createSecretKey(secret: string): JWTVerifyGetKey {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = crypto.subtle.importKey('raw', Buffer.from(secret), hmac, false, ['verify']);
  return () => key;
}

/** The tolerance is for clocks that are behind (`nbf`): what has expired here has expired. */
function viewerOf({ sub, exp, grants: claim }: JWTPayload, now: number): Viewer {
  const grants = grantsFromClaim(claim);
  const nameless = typeof sub !== 'string' || sub.trim() === '' || sub.length > MAX_SUBJECT_LENGTH;
  const timeless = typeof exp !== 'number' || exp > LAST_SECOND || exp * 1_000 <= now;
  if (!grants || nameless || timeless) throw new Unauthenticated();
  return createViewer(sub, grants, exp * 1_000);
}
