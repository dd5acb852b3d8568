import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { isSame } from '../sealed-text.ts';

/** The Partner API does not document its signatures, so everything here is configured. */
export interface SignatureSettings {
  readonly header: string;
  readonly algorithm: string;
  readonly encoding: 'hex' | 'base64' | 'base64url';
  readonly prefix: string;
  readonly secret: string;
  /** Still accepted while the secret is rotated. */
  readonly previousSecret?: string | undefined;
}

export type Verify = (headers: IncomingHttpHeaders, body: Uint8Array) => boolean;

/** True only if the header has a valid MAC of exactly these bytes. Never throws, whatever the header holds. */
export function createVerifier(settings: SignatureSettings): Verify {
  const { algorithm, encoding, prefix } = settings;
  const header = settings.header.toLowerCase();
  // Anyone could sign with an empty key, so an empty secret is ignored. Without a secret nothing is accepted.
  const keys = [settings.secret, settings.previousSecret ?? '']
    .filter((secret) => secret !== '')
    .map((secret) => createSecretKey(secret, 'utf8'));

  const macOf = (key: KeyObject, body: Uint8Array): Buffer =>
    Buffer.from(createHmac(algorithm, key).update(body).digest(encoding));
  // An unknown algorithm fails at start and not at the first delivery.
  for (const key of keys) macOf(key, new Uint8Array());

  return (headers, body) => {
    const value = headers[header];
    if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
    const sent = value.slice(prefix.length);
    if (sent === '') return false;
    // Hex may be in either case. Base64 is compared as text: another spelling of the same bytes is rejected.
    const given = Buffer.from(encoding === 'hex' ? sent.toLowerCase() : sent);
    return keys.map((key) => isSame(macOf(key, body), given)).includes(true);
  };
}
