import type { Clock } from '../../clock.ts';
import { authenticate, type PartnerToken } from '../endpoints.ts';
import { PartnerError } from '../errors.ts';
import type { PartnerObserver } from '../partner.ts';
import type { Failure } from './retry.ts';

const RENEW_BEFORE_MS = 5 * 60_000;
/** A token this close to its end is not used, so that none expires in transit. */
const LEEWAY_MS = 5_000;
const RENEW_AGAIN_MS = 30_000;
const SUSPECT_PAUSE_MS = 60_000;
/** If a new token is refused too, another one would not help: it may be the fault of one route. */
const REFUSED_PAUSE_MS = 30_000;
const NEVER = Number.NEGATIVE_INFINITY;

/** Rejections of the authentication request that mean wrong credentials. */
const REFUSALS = new Set(['BAD_USER_INPUT', 'NOT_FOUND', 'UPSTREAM_CREDENTIALS']);

/** The partner's access token, shared by all operations, and whether it and the API key are accepted. */
export function createTokens(
  requestToken: () => Promise<PartnerToken>,
  clock: Clock,
  observer: PartnerObserver,
) {
  let token: { value: string; obtainedAt: number; expiresAt: number } | undefined;
  let pending: Promise<void> | undefined;
  let cancelRenewal: (() => void) | undefined;
  let isClosed = false;
  // When each of these last happened.
  let droppedFor401At = NEVER;
  let droppedFor403At = NEVER;
  let newTokenRefusedAt = NEVER;
  let credentialsRefusedAt = NEVER;
  /** The last token in use that a route accepted. */
  let lastAccepted: string | undefined;
  /** Set while the API refuses our key, or a token that no route has accepted. */
  let refused: { readonly error: PartnerError; readonly at: number } | undefined;

  function current(): string | undefined {
    if (token && clock.now() >= token.expiresAt) token = undefined;
    return token?.value;
  }

  const renew = (): Promise<void> => (pending ??= request().finally(() => (pending = undefined)));

  async function request(): Promise<void> {
    const what = 'the credentials were refused';
    const refusal = new PartnerError('UPSTREAM_CREDENTIALS', authenticate.template, what);
    if (clock.now() - credentialsRefusedAt < REFUSED_PAUSE_MS) throw refusal;
    try {
      const { value, lifetimeMs } = await requestToken();
      const obtainedAt = clock.now();
      const validMs = lifetimeMs - Math.min(LEEWAY_MS, lifetimeMs / 10);
      token = { value, obtainedAt, expiresAt: obtainedAt + validMs };
      renewIn(validMs - Math.min(RENEW_BEFORE_MS, validMs / 5));
    } catch (error) {
      if (!(error instanceof PartnerError) || !REFUSALS.has(error.code)) throw error;
      credentialsRefusedAt = clock.now();
      throw refusal;
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
      refused = undefined;
      // A slow answer may still come for a token that was replaced.
      if (value === token?.value) lastAccepted = value;
    },
    /**
     * What a failure says about the token that was sent. `had401`: an earlier attempt of the call had a 401.
     * After a 401 the token is dropped, but not if new ones are refused: other routes may accept it.
     */
    failed(value: string, { kind, error, mayHaveTakenEffect }: Failure, had401: boolean): void {
      const now = clock.now();
      const isCurrent = value === token?.value;
      const isSuspect = kind === 'token-suspect' && isCurrent;
      if (isSuspect && now - droppedFor403At >= SUSPECT_PAUSE_MS)
        [token, droppedFor403At] = [undefined, now];
      else if (kind === 'key-refused' || (isSuspect && value !== lastAccepted))
        refused = { error, at: now };
      if (kind !== 'unauthorized') return;
      // Not only by `had401`: a second attempt may come late, and a write that may have taken effect has none.
      const isNew = isCurrent && now - droppedFor401At < REFUSED_PAUSE_MS;
      const isNewRefused = had401 || (isNew && (mayHaveTakenEffect || value !== lastAccepted));
      const isPaused = () => now - newTokenRefusedAt < REFUSED_PAUSE_MS;
      if (isNewRefused && !isPaused()) newTokenRefusedAt = now;
      if (isCurrent && !isPaused()) {
        token = undefined;
        droppedFor401At = now;
      } else if (isCurrent && value !== lastAccepted) {
        refused = { error, at: now };
      }
    },
    refused: () => refused,
    state: () => ({ tokenAgeSeconds: token && (clock.now() - token.obtainedAt) / 1_000 }),
    close(): void {
      isClosed = true;
      cancelRenewal?.();
    },
  };
}
