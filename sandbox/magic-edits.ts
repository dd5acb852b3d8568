import type { Ids } from './ids.ts';
import { createDraws, hash } from './rng.ts';

/** The edits that clinicians asked for, newest first. A few stand in the seed; every new one is added. */
export interface MagicEdits {
  readonly of: (clinician: number) => readonly MagicEdit[];
  readonly add: (clinician: number, noteId: string, userInstructions: string) => void;
  readonly record: (edit: MagicEdit) => object;
}

export interface MagicEdit {
  readonly key: number;
  readonly progressNoteId?: string;
  readonly userInstructions: string;
  readonly createdAt: string;
}

const ASKED_BEFORE = [
  'Make the plan a numbered list.',
  'Use the third person throughout.',
  'Mention that the client declined a referral.',
  'Shorten the subjective section.',
  'Add the homework we agreed on.',
  'Replace everyday words with clinical terms.',
] as const;

const PER_CLINICIAN_LIMIT = 16;
const PAST_ENDS_AT = Date.parse('2025-09-01T18:30:00Z');
const DAY_MS = 86_400_000;

export function createMagicEdits(seed: number, ids: Ids, nextKey: () => number): MagicEdits {
  const added = new Map<number, MagicEdit[]>();

  function seeded(clinician: number): MagicEdit[] {
    const draws = createDraws(hash(seed, clinician, 0xed17));
    return Array.from({ length: draws.below(14) }, (_, number) => ({
      key: clinician * PER_CLINICIAN_LIMIT + number,
      userInstructions: draws.pick(ASKED_BEFORE),
      createdAt: new Date(PAST_ENDS_AT - number * 3 * DAY_MS).toISOString(),
    }));
  }

  return {
    of: (clinician) => [...(added.get(clinician) ?? []), ...seeded(clinician)],
    add(clinician, progressNoteId, userInstructions) {
      const edit = {
        key: nextKey(),
        progressNoteId,
        userInstructions,
        createdAt: new Date().toISOString(),
      };
      added.set(clinician, [edit, ...(added.get(clinician) ?? [])]);
    },
    record: ({ key, ...rest }) => ({ id: ids.idOf('edit', key), ...rest }),
  };
}
