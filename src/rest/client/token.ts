import type { Clock } from '../clock.ts';
import { PartnerContractBroken, PartnerCredentialsRefused, PartnerError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { PartnerObserver } from '../observer.ts';
import { AUTHENTICATE } from '../endpoints.ts';

interface Token {
  readonly value: string;
  readonly obtainedAt: number;
  readonly expiresAt: number;
}

/** Documented; used if an answer does not say. */
const LIFETIME_S = 3600;
const RENEW_BEFORE_MS = 5 * 60_000;
/** So that a token does not expire on its way. */
const LEEWAY_MS = 5000;
const RENEW_AGAIN_MS = 30_000;
const DISTRUST_PAUSE_MS = 60_000;
const REFUSED_PAUSE_MS = 30_000;

export type Tokens = ReturnType<typeof createTokens>;

/** The partner's access token: one for all, obtained by one call at a time. */
export function createTokens(
  authenticate: () => Promise<unknown>,
  clock: Clock,
  observer: PartnerObserver,
) {
  let token: Token | undefined;
  let pending: Promise<string> | undefined;
  let stopTimer: (() => void) | undefined;
  let isClosed = false;
  let distrustedAt = Number.NEGATIVE_INFINITY;
  // New tokens that were refused, one after the other. At two it is not the token that is wrong.
  let refusals = 0;
  let askedAt = Number.NEGATIVE_INFINITY;

  const renewIn = (ms: number): void => {
    stopTimer?.();
    if (isClosed) return;
    stopTimer = clock.after(ms, () => {
      renew().catch((error: unknown) => {
        observer.tokenRenewalFailed?.(error instanceof PartnerError ? error.code : 'INTERNAL');
        renewIn(RENEW_AGAIN_MS);
      });
    });
  };

  const ask = async (): Promise<string> => {
    if (refusals >= 2 && clock.now() - askedAt < REFUSED_PAUSE_MS) {
      throw new PartnerCredentialsRefused(AUTHENTICATE, 'new access tokens are refused');
    }
    askedAt = clock.now();
    try {
      token = tokenOf(await authenticate(), clock.now());
    } catch (error) {
      throw asRefusal(error);
    }
    const lifetimeMs = token.expiresAt - token.obtainedAt;
    renewIn(lifetimeMs - Math.min(RENEW_BEFORE_MS, lifetimeMs / 5));
    observer.tokenRenewed?.();
    return token.value;
  };

  const asRefusal = (error: unknown): unknown => {
    if (!(error instanceof PartnerError) || !REFUSALS.has(error.code)) return error;
    refusals = 2;
    return new PartnerCredentialsRefused(AUTHENTICATE, 'the credentials were refused');
  };

  const renew = (): Promise<string> => {
    pending ??= ask().finally(() => {
      pending = undefined;
    });
    return pending;
  };

  const current = (): string | undefined => {
    if (token && clock.now() >= token.expiresAt) token = undefined;
    return token?.value;
  };

  return {
    /** The token, if there is one that is good for now. */
    current,
    /** A good token, from the API if need be. */
    async obtain(): Promise<string> {
      return current() ?? renew();
    },
    /** The API answered this token as one it knows. */
    accepted(value: string): void {
      if (refusals > 0 && value === token?.value) refusals = 0;
    },
    /** 401: dropped, if it is still the one in use. */
    refused(value: string): void {
      if (value !== token?.value) return;
      token = undefined;
      refusals += 1;
    },
    /** A 403 that may mean an unknown token: dropped likewise, but not more often than once a minute. */
    distrusted(value: string): void {
      if (value !== token?.value || clock.now() - distrustedAt < DISTRUST_PAUSE_MS) return;
      distrustedAt = clock.now();
      token = undefined;
    },
    get ageMs(): number | undefined {
      return token && clock.now() - token.obtainedAt;
    },
    close(): void {
      isClosed = true;
      stopTimer?.();
    },
  };
}

/** Whatever the API finds wrong with an authentication is wrong with the credentials. */
const REFUSALS: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'UPSTREAM_CREDENTIALS',
]);

function tokenOf(body: unknown, now: number): Token {
  const value = isObject(body) ? body['accessToken'] : undefined;
  // It goes into a header: visible ASCII only.
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(value)) {
    throw new PartnerContractBroken(AUTHENTICATE, 'wanted an accessToken, but got something else');
  }
  const told = isObject(body) ? Number(body['expiresIn']) : Number.NaN;
  const seconds = told > 0 && told <= 24 * LIFETIME_S ? told : LIFETIME_S;
  const leewayMs = Math.min(LEEWAY_MS, (seconds * 1000) / 10);
  return { value, obtainedAt: now, expiresAt: now + seconds * 1000 - leewayMs };
}
