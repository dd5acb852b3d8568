import type { Ids } from './ids.ts';
import { createRandom, hash } from './random.ts';

const SEEDED_INSTRUCTIONS = [
  'Make the plan a numbered list.',
  'Shorten the assessment.',
  'Mention that the client declined a referral.',
  'Add to the plan: follow-up call on Friday.',
  'Replace "client" with "patient".',
];
const SEEDED_LIMIT = 16;
const SEEDED_UNTIL = Date.parse('2025-09-01T18:30:00Z');
const DAY_MS = 86_400_000;

/** The magic edits that each clinician requested, newest first: a few seeded ones, and every new one. */
export function createMagicEdits(seed: number, ids: Ids, nextKey: () => number) {
  const added = new Map<number, object[]>();

  function seeded(clinician: number): object[] {
    const random = createRandom(hash(seed, clinician, 0xed17));
    return Array.from({ length: random.below(14) }, (_, index) => ({
      id: ids.idOf('edit', clinician * SEEDED_LIMIT + index),
      userInstructions: random.pick(SEEDED_INSTRUCTIONS),
      createdAt: new Date(SEEDED_UNTIL - index * 3 * DAY_MS).toISOString(),
    }));
  }

  return {
    ofClinician: (clinician: number): readonly object[] => [
      ...(added.get(clinician) ?? []),
      ...seeded(clinician),
    ],
    add(clinician: number, progressNoteId: string, userInstructions: string) {
      const createdAt = new Date().toISOString();
      const edit = { id: ids.idOf('edit', nextKey()), progressNoteId, userInstructions, createdAt };
      added.set(clinician, [edit, ...(added.get(clinician) ?? [])]);
    },
  };
}
