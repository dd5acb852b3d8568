import type { Clock } from '../../clock.ts';
import { authenticate, type PartnerToken } from '../endpoints.ts';
import { PartnerCredentialsRefused, PartnerError } from '../errors.ts';
import type { PartnerObserver } from '../partner.ts';
import type { Failure } from './retry.ts';

const RENEW_BEFORE_MS = 5 * 60_000;
/** A token this close to its end is not used, so that none expires in transit. */
const LEEWAY_MS = 5000;
const RENEW_AGAIN_MS = 30_000;
const SUSPECT_PAUSE_MS = 60_000;
const REFUSED_PAUSE_MS = 30_000;
/** After this many new tokens were refused in a row, another one would not help. */
const MAX_REFUSALS = 2;

/** Rejections of the authentication request that mean wrong credentials. */
const REFUSALS: ReadonlySet<string> = new Set([
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'UPSTREAM_CREDENTIALS',
]);

/** The partner's access token, shared by all operations, and whether the API key is accepted. */
export function createTokens(
  requestToken: () => Promise<PartnerToken>,
  clock: Clock,
  observer: PartnerObserver,
) {
  let token: { value: string; obtainedAt: number; expiresAt: number } | undefined;
  let pending: Promise<void> | undefined;
  let cancelRenewal: (() => void) | undefined;
  let isClosed = false;
  let [suspectedAt, askedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** New tokens that were refused in a row. */
  let refusals = 0;
  /** Set while the API's gateway refuses our key: a token can be valid while every call is refused. */
  let keyRefused: { readonly error: PartnerError; readonly at: number } | undefined;

  function current(): string | undefined {
    if (token && clock.now() >= token.expiresAt) token = undefined;
    return token?.value;
  }

  function renew(): Promise<void> {
    pending ??= request().finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function request(): Promise<void> {
    if (refusals >= MAX_REFUSALS && clock.now() - askedAt < REFUSED_PAUSE_MS) {
      throw new PartnerCredentialsRefused(authenticate.template, 'new access tokens are refused');
    }
    askedAt = clock.now();
    try {
      const { value, lifetimeMs } = await requestToken();
      const obtainedAt = clock.now();
      const validMs = lifetimeMs - Math.min(LEEWAY_MS, lifetimeMs / 10);
      token = { value, obtainedAt, expiresAt: obtainedAt + validMs };
      renewIn(validMs - Math.min(RENEW_BEFORE_MS, validMs / 5));
    } catch (error) {
      if (!(error instanceof PartnerError) || !REFUSALS.has(error.code)) throw error;
      refusals = MAX_REFUSALS;
      throw new PartnerCredentialsRefused(authenticate.template, 'the credentials were refused');
    }
  }

  /** Renews in the background. While that fails, the present token is still used. */
  function renewIn(ms: number): void {
    cancelRenewal?.();
    if (isClosed) return;
    cancelRenewal = clock.after(ms, () => {
      renew().catch((error: unknown) => {
        observer.tokenRenewalFailed?.(error instanceof PartnerError ? error.code : 'INTERNAL');
        renewIn(RENEW_AGAIN_MS);
      });
    });
  }

  return {
    /** The token, if there is one that is valid now. */
    current,
    /** Resolves once there is a valid token. */
    async obtain(): Promise<void> {
      if (current() === undefined) await renew();
    },
    /** The API answered a request with this token. */
    accepted(value: string): void {
      keyRefused = undefined;
      if (refusals > 0 && value === token?.value) refusals = 0;
    },
    /** What a failure says about the token that was sent. It is dropped only if it is still the one in use. */
    failed(value: string, { credentials, error }: Failure): void {
      const now = clock.now();
      if (credentials === 'accepted') this.accepted(value);
      if (credentials === 'key-refused') keyRefused = { error, at: now };
      if (value !== token?.value) return;
      if (credentials === 'expired') {
        token = undefined;
        refusals += 1;
      } else if (credentials === 'suspect' && now - suspectedAt >= SUSPECT_PAUSE_MS) {
        token = undefined;
        suspectedAt = now;
      }
    },
    keyRefused: () => keyRefused,
    ageMs: () => token && clock.now() - token.obtainedAt,
    close(): void {
      isClosed = true;
      cancelRenewal?.();
    },
  };
}
