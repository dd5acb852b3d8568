import { hkdfSync } from 'node:crypto';

/** A 32-byte key for one purpose: keys of different purposes tell nothing about each other or about the secret. */
export function derivedKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `partner-graph ${purpose}`, 32));
}
