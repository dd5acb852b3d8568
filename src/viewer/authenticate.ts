// The parts and not all of jose, which has four times the modules: each takes time at the start.
import * as errors from 'jose/errors';
import { createRemoteJWKSet, customFetch } from 'jose/jwks/remote';
import { type JWTVerifyGetKey, jwtVerify } from 'jose/jwt/verify';
import { LRUCache } from 'lru-cache';
import { fetch } from 'undici';
import { type Clock, systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { CodedError } from '../errors.ts';
import { SANDBOX_VIEWER, type Viewer, createViewer, parseGrant } from './viewer.ts';

export const MESSAGES = {
  missing: 'A bearer token is required, but none was sent.',
  invalid: 'The bearer token is not valid.',
  expired: 'The bearer token has expired.',
} as const;

/** No valid token. The message never says what is wrong with an invalid one: `reason` does, for the log. */
export class Unauthenticated extends CodedError {
  readonly reason: string;
  constructor(problem: keyof typeof MESSAGES, reason: string = problem) {
    super('UNAUTHENTICATED', MESSAGES[problem]);
    this.reason = reason;
  }
}

/** The viewer whose token this is (`Bearer …`). Rejects with `Unauthenticated`, or `UPSTREAM_UNAVAILABLE` without keys. */
export type Authenticate = (authorization: string | undefined) => Promise<Viewer>;

const BEARER = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

export function createAuthenticator(
  auth: Config['auth'],
  clock: Pick<Clock, 'now' | 'wallNow'> = systemClock,
  onKeysUnavailable: (reason: string) => void = () => {},
): Authenticate {
  if (auth.kind === 'open') return () => Promise.resolve(SANDBOX_VIEWER);

  const { issuer, audience } = auth;
  const key: JWTVerifyGetKey =
    auth.kind === 'secret'
      ? () => Buffer.from(auth.secret)
      : createIssuerKeys(auth.url, clock.now, onKeysUnavailable);
  const options = {
    // The token must not choose the algorithm: a public key must not be used as an HMAC secret.
    algorithms: auth.kind === 'secret' ? ['HS256'] : ['RS256', 'PS256', 'ES256', 'EdDSA'],
    clockTolerance: 5,
    requiredClaims: ['exp', 'sub', 'grants'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };

  async function verify(header: string): Promise<Viewer> {
    try {
      const [, token = ''] = BEARER.exec(header) ?? [];
      const checks = { ...options, currentDate: new Date(clock.wallNow()) };
      const { payload } = await jwtVerify(token, key, checks).catch((error: unknown) =>
        verifyWithEachKey(error, (candidate) => jwtVerify(token, candidate, checks)),
      );
      const { sub, exp = 0, grants: claim } = payload;
      if (!Array.isArray(claim)) throw new Unauthenticated('invalid', 'grants: not an array');
      if (typeof sub !== 'string' || sub.trim() === '' || sub.length > 256)
        throw new Unauthenticated('invalid', 'sub: empty or too long');
      // The clock tolerance applies to `nbf` only, not to the expiry.
      if (exp * 1_000 <= clock.wallNow()) throw new Unauthenticated('expired');
      // An unknown string grants nothing, so that tokens of a newer issuer stay valid.
      const grants = new Set(claim.map(parseGrant).filter((grant) => grant !== undefined));
      return createViewer(sub, [...grants].toSorted(), exp * 1_000);
    } catch (error) {
      // jose reports an expired token only after its signature was verified.
      if (error instanceof errors.JWTExpired) throw new Unauthenticated('expired');
      throw error instanceof CodedError ? error : new Unauthenticated('invalid', reasonOf(error));
    }
  }

  /** Concurrent requests with the same token share one verification: it costs more than the rest of a small query. */
  const viewers = new LRUCache<string, Viewer>({
    maxSize: 8_000_000,
    sizeCalculation: (_, header) => header.length,
    // A withdrawn key is accepted for this long.
    ttl: 60_000,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: clock,
    fetchMethod: verify,
    // A token that is evicted while it is verified still gets its result.
    ignoreFetchAbort: true,
  });

  return async (authorization) => {
    const header = authorization?.trim() ?? '';
    if (header === '') throw new Unauthenticated('missing');
    const cached = viewers.get(header);
    if (cached && clock.wallNow() < cached.expiresAt) return cached;
    return viewers.forceFetch(header, { forceRefresh: true });
  };
}

/** While keys are rotated, several match a token without a key id: one of them must have signed it. */
async function verifyWithEachKey<T>(error: unknown, verify: (key: CryptoKey) => Promise<T>) {
  if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
  for await (const key of error) {
    try {
      return await verify(key);
    } catch (failure) {
      // jose throws a TypeError for a key that is too weak.
      const isOtherKey = failure instanceof errors.JWSSignatureVerificationFailed;
      if (!isOtherKey && !(failure instanceof TypeError)) throw failure;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/** What jose found wrong, in its own terms: a code, or a claim's name. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTClaimValidationFailed) return `${error.claim}: ${error.reason}`;
  return error instanceof errors.JOSEError ? error.code : 'the key is not usable';
}

/** Keys are fetched anew after ten minutes, so that a withdrawn one is gone soon. */
const FRESH_MS = 600_000;
/** While the issuer is down, the last good keys are used for this long. */
const KEPT_MS = 3_600_000;
/** A token may have a made-up key id, which must not cause a flood of requests to the issuer. */
const COOLDOWN_MS = 30_000;
/** Without any keys no token can be verified, so the next attempt comes sooner. */
const RETRY_EMPTY_MS = 1_000;
const NO_KEYS = 'The issuer’s keys can’t be fetched for now. Try again in a moment.';
const MAX_KEYS_CHARACTERS = 262_144;

/** jose follows no redirect, waits 5 s and requires status 200. The size is checked here, since the body may be compressed. */
async function fetchBounded(url: string, options: object) {
  const { status, body } = await fetch(url, options);
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_KEYS_CHARACTERS)
      throw new Error(`the response has more than ${MAX_KEYS_CHARACTERS} characters`);
  }
  return { status, json: async (): Promise<unknown> => JSON.parse(text) };
}

/**
 * The issuer's published keys, through jose. Its own caching is disabled: it uses the wall clock, which may jump, and
 * drops keys that it can't renew. `now` is monotonic. Each request that waited for a failed fetch calls `onFailure`.
 * Without keys a token is not rejected as invalid, since that would sign every user out.
 */
function createIssuerKeys(url: string, now: () => number, onFailure: (reason: string) => void) {
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetchBounded as unknown as typeof globalThis.fetch,
  });
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let attemptedAt = Number.NEGATIVE_INFINITY;

  async function refresh(atMostEveryMs: number): Promise<void> {
    if (now() - attemptedAt < atMostEveryMs) return;
    try {
      // jose shares a request that is under way.
      await keys.reload();
      fetchedAt = attemptedAt = now();
    } catch (error) {
      // At the end of the attempt: an issuer that hangs is not asked again at once.
      attemptedAt = now();
      // The system's code of a failed connection, or jose's own message about the response.
      const { cause, message } = error as Error;
      const { code }: { code?: unknown } = Object(cause);
      onFailure(typeof code === 'string' ? code : message);
    }
  }

  return async (...token: Parameters<JWTVerifyGetKey>) => {
    const age = now() - fetchedAt;
    if (age >= KEPT_MS) await refresh(RETRY_EMPTY_MS);
    // After a time without requests, the keys may include a withdrawn one, so the new ones are awaited.
    else if (age >= 1.1 * FRESH_MS && now() - attemptedAt >= FRESH_MS) await refresh(COOLDOWN_MS);
    else if (age >= FRESH_MS) void refresh(COOLDOWN_MS);
    if (now() - fetchedAt >= KEPT_MS) throw new CodedError('UPSTREAM_UNAVAILABLE', NO_KEYS);
    return keys(...token).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(COOLDOWN_MS);
      return keys(...token);
    });
  };
}
