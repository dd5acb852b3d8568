import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import type { Config } from '../config.ts';
import { isSame } from '../sealed-text.ts';

/** The Partner API does not document its signatures, so everything here is configured. */
export type SignatureSettings = Config['webhook'] & { readonly secret: string };

export type Verify = (headers: IncomingHttpHeaders, body: Uint8Array) => boolean;

/** True only if the header has a valid MAC of exactly these bytes. Never throws, whatever the header holds. */
export function createVerifier(settings: SignatureSettings): Verify {
  const { header, algorithm, encoding, prefix, secret: current, previousSecret = '' } = settings;
  // Anyone could sign with an empty key, so an empty secret is ignored. Without a secret nothing is accepted.
  // The previous one is still accepted while the secret is rotated.
  const keys = [current, previousSecret]
    .filter((secret) => secret !== '')
    .map((secret) => createSecretKey(secret, 'utf8'));

  const macOf = (key: KeyObject, body: Uint8Array): Buffer =>
    Buffer.from(createHmac(algorithm, key).update(body).digest(encoding));

  return (headers, body) => {
    const value = headers[header];
    if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
    const sent = value.slice(prefix.length);
    // Hex may be in either case. Base64 is compared as text: another spelling of the same bytes is rejected.
    const given = Buffer.from(encoding === 'hex' ? sent.toLowerCase() : sent);
    return keys.map((key) => isSame(macOf(key, body), given)).includes(true);
  };
}
