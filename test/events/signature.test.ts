import { createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createVerifier, type SignatureSettings } from '../../src/events/webhook.ts';

const SECRET = 'the-client-secret';
const BODY = Buffer.from('{"eventType":"transcript_ready"}');
const plain: SignatureSettings = {
  header: 'x-signature',
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  secret: SECRET,
  previousSecret: undefined,
};

const mac = (encoding: 'hex' | 'base64' | 'base64url', secret = SECRET, algorithm = 'sha256') =>
  createHmac(algorithm, secret).update(BODY).digest(encoding);

const holds = (settings: Partial<SignatureSettings>, value: string | undefined, body = BODY) =>
  createVerifier({ ...plain, ...settings })(
    value === undefined ? {} : { 'x-signature': value },
    body,
  );

describe('a webhook signature', () => {
  it('is valid in each encoding, over exactly these bytes', () => {
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(holds({ encoding }, mac(encoding))).toBe(true);
      expect(holds({ encoding }, mac(encoding), Buffer.from(`${BODY.toString()} `))).toBe(false);
    }
    expect(holds({ algorithm: 'sha512' }, mac('hex', SECRET, 'sha512'))).toBe(true);
  });

  it('may be padded in base64url, as Python, Java and Go do', () => {
    const encoding = 'base64url';
    expect(holds({ encoding }, `${mac(encoding)}=`)).toBe(true);
    const algorithm = 'sha512';
    expect(holds({ encoding, algorithm }, `${mac(encoding, SECRET, algorithm)}==`)).toBe(true);
    expect(holds({ encoding }, `${mac(encoding)}===`)).toBe(false);
    expect(holds({ encoding }, `=${mac(encoding)}`)).toBe(false);
  });

  it('is rejected when missing, empty or blank', () => {
    for (const value of [undefined, '', '   ']) expect(holds({}, value)).toBe(false);
    for (const value of [undefined, '', 'sha256=']) {
      expect(holds({ prefix: 'sha256=' }, value)).toBe(false);
    }
  });

  it('is rejected when it is truncated, longer, not hex, or of odd length', () => {
    const good = mac('hex');
    const bad = [good.slice(0, -2), good.slice(1), `${good}00`, 'abzz', `${good.slice(0, -1)}g`];
    bad.push(`${good.slice(0, -1)}é`, `"${good}"`, `${good}, ${good}`, 'é'.repeat(32));
    for (const value of bad) expect(holds({}, value)).toBe(false);
  });

  it('is rejected in any variant of base64 but the configured one', () => {
    const secrets = Array.from({ length: 50 }, (_, i) => `secret ${i}`);
    const secret = secrets.find((each) => /[+/]/.test(mac('base64', each))) ?? '';
    const good = mac('base64', secret);
    const settings = { encoding: 'base64', secret } as const;
    expect(holds(settings, good)).toBe(true);
    const lastBits = `${good.slice(0, 42)}${nextLetter(good.charAt(42))}=`;
    expect(Buffer.from(lastBits, 'base64')).toEqual(Buffer.from(good, 'base64'));
    for (const value of [mac('base64url', secret), good.replace('=', ''), `${good}=`, lastBits]) {
      expect(holds(settings, value)).toBe(false);
    }
    expect(holds({ encoding: 'base64url', secret }, good)).toBe(false);
  });

  it('has the configured algorithm and prefix, and no others', () => {
    for (const prefix of ['sha1=', 'md5=', 'none=', 'v0,', 'sha256=', 'SHA512=']) {
      expect(holds({}, `${prefix}${mac('hex')}`)).toBe(false);
      expect(holds({ prefix: 'sha512=' }, `${prefix}${mac('hex')}`)).toBe(false);
    }
    expect(holds({}, mac('hex', SECRET, 'sha1'))).toBe(false);
    expect(holds({ prefix: 'sha256=' }, `sha256=${mac('hex')}`)).toBe(true);
    expect(holds({ prefix: 'sha256=' }, `SHA256=${mac('hex')}`)).toBe(false);
    expect(holds({ prefix: 'sha256=' }, mac('hex'))).toBe(false);
  });

  it('is valid with the previous secret during a rotation, and not after it', () => {
    expect(holds({ secret: 'new', previousSecret: SECRET }, mac('hex'))).toBe(true);
    expect(holds({ secret: SECRET, previousSecret: 'old' }, mac('hex'))).toBe(true);
    expect(holds({ secret: 'new' }, mac('hex'))).toBe(false);
  });

  it('is never valid under an empty key, whichever secret is unset', () => {
    const empty = mac('hex', '');
    expect(holds({}, empty)).toBe(false);
    expect(holds({ previousSecret: '' }, empty)).toBe(false);
    expect(holds({ secret: '', previousSecret: '' }, empty)).toBe(false);
    expect(holds({}, mac('hex', 'the-api-key'))).toBe(false);
  });

  it('never throws, whatever the header and body contain', () => {
    const verify = createVerifier({ ...plain, previousSecret: 'old', encoding: 'base64' });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uint8Array(), (value, body) => {
        expect(verify({ 'x-signature': value }, body)).toBe(false);
      }),
    );
  });
});

/** The last letter but the padding carries two spare bits. */
function nextLetter(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return alphabet.charAt(alphabet.indexOf(letter) + 1);
}
