import { themeOf } from './clinical-text.ts';
import { createDraws, hash, nth } from './rng.ts';
import type { Session } from './session-book.ts';

const ASKED = [
  'How has the time since our last session been for you?',
  'What was going through your mind at that moment?',
  'On a scale from zero to ten, where would you put it today?',
  'What helped, even a little?',
  'What would a slightly better week look like?',
  'How did the exercise from last time go?',
  'Who did you have around you when that happened?',
  'Can we stay with that for a minute?',
];
const ANSWERED = [
  'It went up and down, more up than down, I think.',
  'Maybe a five. Last week I would have said seven.',
  'I almost skipped it, and then I did the short version.',
  'I noticed it sooner than I used to.',
  'I do not know. I have not really said that out loud before.',
  'Yes. That sounds manageable.',
];

/** A diarized conversation, times in seconds from the start of the recording. */
export function transcriptOf(seed: number, session: Session) {
  const draws = createDraws(hash(seed, session.key, 0x7ea5));
  const { said } = themeOf(seed, session);
  const lines = 12 + 2 * draws.below(6);
  const question = draws.below(ASKED.length);
  let clock = draws.below(8);
  return Array.from({ length: lines }, (_, line) => {
    const isClinician = line % 2 === 0;
    const answer = draws.chance(0.5) ? draws.pick(said) : draws.pick(ANSWERED);
    const transcript = isClinician ? nth(ASKED, question + line / 2) : answer;
    const startTime = clock;
    const endTime = startTime + 3 + Math.ceil(transcript.length / 14);
    clock = endTime + 1 + draws.below(4);
    return { startTime, endTime, speaker: isClinician ? 'clinician' : 'client', transcript };
  });
}
