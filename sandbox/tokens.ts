import { randomBytes } from 'node:crypto';
import { PartnerApiFailure } from './errors.ts';

/** Partner access tokens: given out, recognised, expired, forgotten. */
export interface Tokens {
  readonly issue: () => {
    readonly accessToken: string;
    readonly expiresIn: number;
    readonly tokenType: 'Bearer';
  };
  /** Throws what the API answers for a token that is missing, not its own, or too old. */
  readonly check: (token: string | undefined) => void;
  /** From now on every token given out so far is answered 401. */
  readonly expireAll: () => void;
  /** From now on every token given out so far is answered 403, as one that was never known. */
  readonly revokeAll: () => void;
}

/** A client that asks for a token per call would otherwise fill the memory. */
const MOST_REMEMBERED = 10_000;

export function createTokens(lifetimeSeconds: () => number): Tokens {
  const expiries = new Map<string, number>();
  return {
    issue() {
      const accessToken = `sandbox.${randomBytes(24).toString('base64url')}`;
      const expiresIn = lifetimeSeconds();
      expiries.set(accessToken, Date.now() + expiresIn * 1000);
      if (expiries.size > MOST_REMEMBERED) expiries.delete(expiries.keys().next().value ?? '');
      return { accessToken, expiresIn, tokenType: 'Bearer' };
    },
    check(token) {
      const expiry = token === undefined ? undefined : expiries.get(token);
      if (expiry === undefined) {
        throw new PartnerApiFailure(
          403,
          'ForbiddenException',
          'Access token is missing or invalid',
        );
      }
      if (Date.now() >= expiry) {
        throw new PartnerApiFailure(401, 'UnauthorizedException', 'Access token has expired');
      }
    },
    expireAll() {
      for (const token of expiries.keys()) expiries.set(token, 0);
    },
    revokeAll: () => expiries.clear(),
  };
}

/** A clinician's pair for the embedded widget, new each time; names as the widget wants them. */
export function mintClinicianTokens() {
  const accessToken = `sandbox-clinician.${randomBytes(24).toString('base64url')}`;
  return {
    AccessToken: accessToken,
    IdToken: accessToken,
    RefreshToken: `sandbox-refresh.${randomBytes(32).toString('base64url')}`,
    ExpiresIn: 600,
  };
}
