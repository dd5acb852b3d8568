import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import { Agent, fetch } from 'undici';
import { OperationError } from '../errors.ts';

/** Keys are fetched anew after ten minutes, so that a withdrawn one is gone soon. */
const FRESH_MS = 600_000;
/** While the issuer is down, the last good keys are used for this long. */
const KEPT_MS = 3_600_000;
/** A token may have a made-up key id, which must not cause a flood of requests to the issuer. */
const COOLDOWN_MS = 30_000;
/** Without any keys no token can be verified, so the next attempt comes sooner. */
const RETRY_EMPTY_MS = 1_000;
const TIMEOUT_MS = 5_000;
const NO_KEYS = 'The issuer’s keys can’t be fetched for now. Try again in a moment.';
/** jose follows no redirect and requires status 200; the size of the body is checked here. */
const dispatcher = new Agent({ maxResponseSize: 262_144 });
const fetchBounded = (url: string, options: object) => fetch(url, { ...options, dispatcher });

/**
 * The issuer's published keys, through jose. Its own caching is disabled: it uses the wall clock, which may jump, and
 * drops keys that it can't renew. `now` is monotonic, and `onFailure` is called with the reason of each failed fetch.
 * Without keys a token is not rejected as invalid, since that would sign every user out.
 */
export function createIssuerKeys(
  url: string,
  now: () => number,
  onFailure: (reason: string) => void,
): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: TIMEOUT_MS,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: fetchBounded as unknown as typeof globalThis.fetch,
  });
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let attemptedAt = Number.NEGATIVE_INFINITY;
  let reloading: Promise<void> | undefined;

  async function reload(): Promise<void> {
    try {
      await keys.reload();
      fetchedAt = now();
    } catch (error) {
      // The system's code of a failed connection, or jose's own message about the response.
      const { cause, message } = error as Error;
      onFailure(Object(cause).code ?? message);
    } finally {
      // At the end of the attempt: an issuer that hangs is not asked again at once.
      attemptedAt = now();
      reloading = undefined;
    }
  }

  function refresh(atMostEveryMs: number): Promise<void> | undefined {
    if (!reloading && now() - attemptedAt >= atMostEveryMs) reloading = reload();
    return reloading;
  }

  return async (header, token) => {
    if (now() - fetchedAt >= KEPT_MS) await refresh(RETRY_EMPTY_MS);
    else if (now() - fetchedAt >= FRESH_MS) void refresh(COOLDOWN_MS);
    if (now() - fetchedAt >= KEPT_MS) throw new OperationError('UPSTREAM_UNAVAILABLE', NO_KEYS);
    try {
      return await keys(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh(COOLDOWN_MS);
      return keys(header, token);
    }
  };
}
