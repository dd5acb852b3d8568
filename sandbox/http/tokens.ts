import { randomBytes } from 'node:crypto';
import { PartnerApiFailure } from './errors.ts';

export type Tokens = ReturnType<typeof createTokens>;

/** Limits memory: a client may request a token for every call. */
const MAX_TOKENS = 10_000;

/** Partner access tokens. */
export function createTokens(lifetimeSeconds: () => number) {
  const expiries = new Map<string, number>();
  return {
    issue() {
      const accessToken = `sandbox.${randomBytes(24).toString('base64url')}`;
      const expiresIn = lifetimeSeconds();
      expiries.set(accessToken, Date.now() + expiresIn * 1000);
      if (expiries.size > MAX_TOKENS) expiries.delete(expiries.keys().next().value ?? '');
      return { accessToken, expiresIn, tokenType: 'Bearer' as const };
    },
    /** Throws the API's error for a token that is missing, unknown or expired. */
    check(token: string | undefined) {
      const expiry = token === undefined ? undefined : expiries.get(token);
      if (expiry === undefined) {
        throw new PartnerApiFailure(403, 'ForbiddenException', 'Access token is not valid');
      }
      if (Date.now() >= expiry) {
        throw new PartnerApiFailure(401, 'UnauthorizedException', 'Access token has expired');
      }
    },
    /** From now on, all tokens issued so far get a 401. */
    expireAll() {
      for (const token of expiries.keys()) expiries.set(token, 0);
    },
    /** From now on, all tokens issued so far get a 403, as if they were unknown. */
    revokeAll: () => expiries.clear(),
  };
}

/** A clinician's token pair for the embedded widget. */
export function mintClinicianTokens() {
  const accessToken = `sandbox-clinician.${randomBytes(24).toString('base64url')}`;
  return {
    AccessToken: accessToken,
    IdToken: accessToken,
    RefreshToken: `sandbox-refresh.${randomBytes(32).toString('base64url')}`,
    ExpiresIn: 600,
  };
}
