import { hash } from './random.ts';

const SALTS = {
  partner: 1,
  organization: 2,
  clinic: 3,
  program: 4,
  clinician: 5,
  client: 6,
  session: 7,
  note: 8,
  mdm: 9,
  score: 10,
  edit: 11,
} as const;
type Kind = keyof typeof SALTS;

export type Ids = ReturnType<typeof createIds>;

/**
 * Every record has a key, a number within its kind. Its UUID is computed from the key and the seed. So a record is found
 * by its UUID without an index, and the same seed gives the same UUIDs.
 */
export function createIds(seed: number) {
  const idOf = (kind: Kind, key: number): string => {
    const salt = hash(seed, SALTS[kind]);
    // Only the first 32 bits hold the key. The rest is derived from it, so a guessed UUID is not accepted.
    const version = (hash(salt, key, 1) & 0xffff_0fff) | 0x4000;
    const variant = (hash(salt, key, 2) & 0x3fff_ffff) | 0x8000_0000;
    const [a, b, c] = [hex(key ^ salt), hex(version), hex(variant)];
    const d = hex(hash(salt, key, 3));
    return `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`;
  };
  return {
    idOf,
    /** The key in `id`, or undefined if `id` is not an id of that kind and this seed. */
    keyOf(kind: Kind, text: string): number | undefined {
      const id = text.toLowerCase();
      const key = (Number.parseInt(id.slice(0, 8), 16) ^ hash(seed, SALTS[kind])) >>> 0;
      return idOf(kind, key) === id ? key : undefined;
    },
  };
}

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');
