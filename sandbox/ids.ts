import { hash } from './rng.ts';

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
export type Kind = keyof typeof KINDS;

/**
 * Every record is named by a number within its kind, and its UUID is that number in disguise: an id leads
 * to its record without an index of all ids, and stays the same for as long as the seed does.
 */
export interface Ids {
  readonly idOf: (kind: Kind, key: number) => string;
  /** The number that `id` disguises, or undefined if this seed never gave out such an id for that kind. */
  readonly keyOf: (kind: Kind, id: string) => number | undefined;
}

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca77;
const FIRST_INVERSE = inverse(FIRST);
const SECOND_INVERSE = inverse(SECOND);

export function createIds(seed: number): Ids {
  const idOf = (kind: Kind, key: number) => {
    const salt = hash(seed, KINDS[kind]);
    const head = scramble(key, salt);
    // The head alone holds the number; the rest makes a guessed id as unlikely as it looks.
    const version = (hash(salt, head, 1) & 0xffff_0fff) | 0x4000;
    const variant = (hash(salt, head, 2) & 0x3fff_ffff) | 0x8000_0000;
    const [b, c, d] = [hex(version), hex(variant), hex(hash(salt, head, 3))];
    return `${hex(head)}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`;
  };
  return {
    idOf,
    keyOf(kind, text) {
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

/** Newton's iteration: each round doubles the number of right bits. */
function inverse(odd: number): number {
  let x = odd;
  for (let round = 0; round < 5; round++) x = Math.imul(x, 2 - Math.imul(odd, x));
  return x;
}
