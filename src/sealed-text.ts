import * as crypto from 'node:crypto';

/** 32 bytes for one purpose. Keys of different purposes reveal nothing about each other or about the secret. */
const derivedKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(crypto.hkdfSync('sha256', secret, '', `partner-graph ${purpose}`, 32));

export type Mac = ReturnType<typeof createMac>;

/**
 * HMAC with SHA-256, made of one-shot hashes as RFC 2104 defines it. A query with the id of each row needs hundreds, and
 * `createHmac` takes more than twice the CPU. Returns latin1 text, which `crypto.hash` names `binary`.
 */
export function createMac(secret: string, purpose: string) {
  const key = Buffer.concat([derivedKey(secret, purpose)], 64);
  const inner = key.map((byte) => byte ^ 0x36);
  const outer = Buffer.concat([key.map((byte) => byte ^ 0x5c)], 96);
  return (bytes: Uint8Array): string => {
    outer.write(crypto.hash('sha256', Buffer.concat([inner, bytes]), 'binary'), 64, 'latin1');
    return crypto.hash('sha256', outer, 'binary');
  };
}

/** Compares in constant time. */
export const isSame = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length && crypto.timingSafeEqual(a, b);

export type Sealer<T> = ReturnType<typeof createSealer<T>>;
type Keys = ReturnType<typeof keysOf>;

/** Every text has this length: it shows nothing, and hostile input is rejected before it is decoded. */
export const SEALED_CHARACTERS = 256;
const TAG_BYTES = 16;
const CONTENT_BYTES = (SEALED_CHARACTERS * 3) / 4 - TAG_BYTES;

/**
 * Turns a small JSON value into opaque text and back, by deterministic authenticated encryption (SIV): the MAC of the
 * plaintext is both the tag and the IV of AES-256-CTR. Equal values give equal texts, so that clients can compare cursors;
 * nothing else can be learned. Texts of `previousSecret` can still be opened, so that the secret can be rotated. What is
 * opened is not checked: when `T` changes so that versions can't read each other's texts, the purpose must change too.
 */
export function createSealer<T>(secret: string, purpose: string, previousSecret?: string) {
  const current = keysOf(secret, purpose);
  const accepted = previousSecret ? [current, keysOf(previousSecret, purpose)] : [current];

  return {
    seal(value: T): string {
      // JSON may end with spaces.
      const bytes = Buffer.from(JSON.stringify(value).padEnd(CONTENT_BYTES));
      const tag = tagOf(bytes, current);
      return Buffer.concat([tag, encrypt(bytes, tag, current)]).toString('base64url');
    },

    /** `undefined` for any text that `seal` did not make for the same purpose. */
    open(text: string): T | undefined {
      if (text.length !== SEALED_CHARACTERS) return undefined;
      const sealed = Buffer.from(text, 'base64url');
      // The decoder skips other characters; only the one canonical spelling is accepted.
      if (sealed.toString('base64url') !== text) return undefined;
      const tag = sealed.subarray(0, TAG_BYTES);
      for (const keys of accepted) {
        // In CTR mode, encrypting again decrypts.
        const bytes = encrypt(sealed.subarray(TAG_BYTES), tag, keys);
        if (isSame(tagOf(bytes, keys), tag)) return JSON.parse(bytes.toString()) as T;
      }
      return undefined;
    },
  };
}

const keysOf = (secret: string, purpose: string) => ({
  mac: createMac(secret, `${purpose} mac`),
  // A key object, since a raw key is parsed anew for every call.
  cipher: crypto.createSecretKey(derivedKey(secret, `${purpose} encryption`)),
});

const tagOf = (bytes: Uint8Array, { mac }: Keys): Buffer =>
  Buffer.from(mac(bytes), 'latin1').subarray(0, TAG_BYTES);

const encrypt = (bytes: Uint8Array, iv: Buffer, { cipher }: Keys): Buffer =>
  crypto.createCipheriv('aes-256-ctr', cipher, iv).update(bytes);
