import type { Ids } from '../data/ids.ts';
import { createRandom, hash, itemAt } from '../data/random.ts';
import type { Session } from '../data/sessions.ts';
import { themeOf } from './note-text.ts';

/** Questions that the client answers with a sentence of their theme. */
const OPEN_QUESTIONS = [
  'How has the time since our last session been for you?',
  'What was going through your mind at that moment?',
  'Can you tell me more about that?',
];
const EXCHANGES = [
  ['On a scale from zero to ten, where would you put it today?', 'Maybe a five. Last week, seven.'],
  ['How did the exercise from last time go?', 'I almost skipped it, then did the short version.'],
  ['What helped, even a little?', 'I noticed it sooner than I used to.'],
  ['What would a slightly better week look like?', 'More days like Tuesday, I think.'],
  ['Could you try that once before we meet again?', 'Yes. That sounds manageable.'],
] as const;

/** A transcript with speakers. Times are in seconds from the start of the recording. */
export function transcriptText(seed: number, session: Session) {
  const random = createRandom(hash(seed, session.key, 0x7ea5));
  const { said } = themeOf(seed, session);
  const start = random.below(said.length);
  const lines = EXCHANGES.flatMap((exchange, index) => {
    const question = OPEN_QUESTIONS[index];
    return question ? [question, itemAt(said, start + index), ...exchange] : exchange;
  });
  let clock = random.below(8);
  return lines.map((transcript, line) => {
    const startTime = clock;
    const endTime = startTime + 3 + Math.ceil(transcript.length / 14);
    clock = endTime + 1 + random.below(4);
    return { startTime, endTime, speaker: line % 2 === 0 ? 'clinician' : 'client', transcript };
  });
}

/** The MDM of a prescriber's session. The API does not document the last two field names: they are assumed. */
export function mdmText(seed: number, ids: Ids, session: Session) {
  const random = createRandom(hash(seed, session.key, 0x3d3));
  const { problem, medication } = themeOf(seed, session);
  return {
    mdmId: ids.idOf('mdm', session.key),
    problemsAddressed: [
      {
        rationale: `Chronic condition, ${problem}, not yet at the treatment goal.`,
        level: random.pick(['low', 'moderate', 'high']),
      },
      {
        rationale:
          'Functional impairment at work, a consequence of the above; no treatment of its own.',
        level: random.pick(['na', 'minimal', 'low', 'moderate', 'high']),
      },
    ],
    riskOfComplications: {
      level: random.pick(['minimal', 'low', 'moderate']),
      rationale: `Prescription drug management (${medication}) with monitoring of side effects.`,
    },
    crisisInterventionIdentified: random.chance(0.05),
  };
}
