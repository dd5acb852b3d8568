import type { Reader } from './reader.ts';

/** Which claims a token must carry besides `sub`, `exp` and `grants`. Undefined: not looked at. */
export interface TokenClaims {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
}

export type AuthConfig =
  | { readonly kind: 'open' }
  | ({ readonly kind: 'secret'; readonly secret: string } & TokenClaims)
  | ({ readonly kind: 'jwks'; readonly url: string } & TokenClaims);

/** HS256 with less than its own output's length can be guessed offline from a single token. */
const SECRET_MIN_BYTES = 32;

export function readAuth(reader: Reader): AuthConfig {
  const secret = reader.secret('AUTH_JWT_SECRET');
  const url = readJwksUrl(reader);
  const claims = { issuer: reader.text('AUTH_ISSUER'), audience: reader.text('AUTH_AUDIENCE') };

  if (secret !== undefined && reader.text('AUTH_JWKS_URL') !== undefined)
    reader.refuse('AUTH_JWT_SECRET and AUTH_JWKS_URL exclude each other, but both are set');
  if (secret !== undefined) {
    const bytes = Buffer.byteLength(secret);
    if (bytes < SECRET_MIN_BYTES)
      reader.refuse(
        `AUTH_JWT_SECRET must have at least ${SECRET_MIN_BYTES} bytes, but has ${bytes}`,
      );
    return { kind: 'secret', secret, ...claims };
  }
  if (reader.text('AUTH_JWKS_URL') !== undefined) return { kind: 'jwks', url, ...claims };

  // An issuer or audience alone checks nothing: whoever set it believes that tokens are verified.
  for (const name of ['AUTH_ISSUER', 'AUTH_AUDIENCE'] as const)
    if (reader.text(name) !== undefined)
      reader.refuse(`${name} needs AUTH_JWT_SECRET or AUTH_JWKS_URL, but neither is set`);
  return { kind: 'open' };
}

function readJwksUrl(reader: Reader): string {
  const url = reader.url('AUTH_JWKS_URL', ['https:', 'http:']);
  if (!url) return '';
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    reader.refuse('AUTH_JWKS_URL must be https (http for loopback only), but is http');
  if (url.username !== '' || url.password !== '')
    reader.refuse('AUTH_JWKS_URL must hold no credentials, but has a user name or password');
  return url.href;
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}
