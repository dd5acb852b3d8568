import {
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { AuthConfig } from '../config.ts';
import { SANDBOX_VIEWER, type Viewer, createViewer, grantsFromClaim } from './viewer.ts';
import { createIssuerKeys } from './issuer-keys.ts';

const MESSAGES = {
  missing: 'A bearer token is required, but none was sent.',
  invalid: 'The bearer token is not valid.',
  expired: 'The bearer token has expired.',
} as const;

/** No valid token. The message never says what is wrong with an invalid one. */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated';
  readonly code = 'UNAUTHENTICATED';
  constructor(reason: keyof typeof MESSAGES) {
    super(MESSAGES[reason]);
  }
}

export interface Authenticator {
  /** The viewer whose token this is (`Bearer …`), or a rejection with `Unauthenticated`. */
  readonly authenticate: (authorization: string | undefined) => Promise<Viewer>;
}

export interface AuthenticatorOptions {
  /** The wall clock: that is what `exp` is about. */
  readonly now?: () => number;
  /** A steady clock: for how long keys and viewers are cached. */
  readonly elapsed?: () => number;
  readonly onKeysUnavailable?: () => void;
}

/** Node accepts 16 KiB of headers in all; a socket's token gets no more. */
const MAX_TOKEN_LENGTH = 16_384;
const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const MAX_SUBJECT_LENGTH = 256;
/** The last second that a Date can hold. */
const LAST_SECOND = 8_640_000_000_000;
/** Verifying costs more than all the rest of a small query. A key that was withdrawn is accepted for so long. */
const CACHED_MS = 60_000;
const MAX_CACHED_CHARACTERS = 8_000_000;

interface CachedViewer {
  readonly viewer: Viewer;
  readonly until: number;
}

export function createAuthenticator(
  auth: AuthConfig,
  { now = Date.now, elapsed = now, onKeysUnavailable = () => {} }: AuthenticatorOptions = {},
): Authenticator {
  if (auth.kind === 'open') return { authenticate: () => Promise.resolve(SANDBOX_VIEWER) };

  const verify = createVerifier(auth, now, elapsed, onKeysUnavailable);
  const cache = new LRUCache<string, CachedViewer>({
    maxSize: MAX_CACHED_CHARACTERS,
    sizeCalculation: (_, header) => header.length,
  });
  const inFlight = new Map<string, Promise<Viewer>>();

  const verifyOnce = async (header: string): Promise<Viewer> => {
    try {
      const viewer = viewerOf(await verify(bearerToken(header)), now());
      cache.set(header, { viewer, until: elapsed() + CACHED_MS });
      return viewer;
    } catch (error) {
      // Thrown only once the signature has been verified.
      throw new Unauthenticated(error instanceof errors.JWTExpired ? 'expired' : 'invalid');
    } finally {
      inFlight.delete(header);
    }
  };

  return {
    authenticate: async (authorization) => {
      const header = typeof authorization === 'string' ? authorization.trim() : '';
      if (header === '') throw new Unauthenticated('missing');
      const cached = cache.get(header);
      if (cached && elapsed() < cached.until && now() < (cached.viewer.expiresAt ?? 0))
        return cached.viewer;
      const pending = inFlight.get(header) ?? verifyOnce(header);
      inFlight.set(header, pending);
      return pending;
    },
  };
}

function bearerToken(header: string): string {
  const token = header.length > MAX_TOKEN_LENGTH ? undefined : BEARER.exec(header)?.[1];
  if (token === undefined) throw new Unauthenticated('invalid');
  return token;
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
      : createIssuerKeys(auth.url, { now: elapsed, onFailure });
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
  if (!grants || nameless || typeof exp !== 'number' || exp > LAST_SECOND)
    throw new Unauthenticated('invalid');
  if (exp * 1_000 <= now) throw new errors.JWTExpired('expired', {});
  return createViewer(sub, grants, exp * 1_000);
}
