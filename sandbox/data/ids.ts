import { hash } from './random.ts';

const KINDS = {
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
type Kind = keyof typeof KINDS;

export type Ids = ReturnType<typeof createIds>;

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;
const FIRST_INVERSE = inverse(FIRST);
const SECOND_INVERSE = inverse(SECOND);

/**
 * Every record has a number (its key) within its kind, and its UUID is that number, scrambled. A UUID leads to its
 * record without an index, and stays the same for the same seed.
 */
export function createIds(seed: number) {
  const idOf = (kind: Kind, key: number): string => {
    const salt = hash(seed, KINDS[kind]);
    const head = scramble(key, salt);
    // Only the first 32 bits hold the key. The rest is derived from it, so a guessed UUID is not accepted.
    const version = (hash(salt, head, 1) & 0xffff_0fff) | 0x4000;
    const variant = (hash(salt, head, 2) & 0x3fff_ffff) | 0x8000_0000;
    const [b, c, d] = [hex(version), hex(variant), hex(hash(salt, head, 3))];
    return `${hex(head)}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`;
  };
  return {
    idOf,
    /** The key in `id`, or undefined if `id` is not an id of that kind and this seed. */
    keyOf(kind: Kind, text: string): number | undefined {
      if (text.length !== 36) return undefined;
      const id = text.toLowerCase();
      const head = Number.parseInt(id.slice(0, 8), 16);
      if (Number.isNaN(head)) return undefined;
      const key = unscramble(head, hash(seed, KINDS[kind]));
      return idOf(kind, key) === id ? key : undefined;
    },
  };
}

const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0');

function scramble(key: number, salt: number): number {
  let x = Math.imul(key ^ salt, FIRST);
  x = Math.imul(x ^ (x >>> 16), SECOND);
  return (x ^ (x >>> 16)) >>> 0;
}

function unscramble(head: number, salt: number): number {
  let x = Math.imul(head ^ (head >>> 16), SECOND_INVERSE);
  x = Math.imul(x ^ (x >>> 16), FIRST_INVERSE);
  return (x ^ salt) >>> 0;
}

/** The inverse modulo 2^32, by Newton's iteration: each round doubles the number of correct bits. */
function inverse(odd: number): number {
  let x = odd;
  for (let round = 0; round < 5; round++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}
