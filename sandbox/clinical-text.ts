import { THEMES, type Theme } from './clinical-themes.ts';
import { createDraws, hash, nth, type Draws } from './rng.ts';
import type { Session } from './session-book.ts';

export interface NoteSection {
  readonly title: string;
  readonly text: string;
}

const AFFECTS = ['congruent', 'constricted at first, then full', 'mildly anxious', 'subdued'];
const PROGRESS = ['steady progress', 'some progress', 'a plateau', 'clear improvement'];
const RESPONSES = [
  'engaged readily and gave own examples',
  'was hesitant at first and then took part actively',
  'named one obstacle and solved it in session',
];

/** One client is treated for one thing: the sessions of a year should read like a course. */
export const themeOf = (seed: number, session: Session): Theme =>
  nth(THEMES, hash(seed, session.client, 0x7e4e));

/** The note of a session; another `revision` words the same session differently. */
export function noteOf(seed: number, session: Session, revision: number): readonly NoteSection[] {
  const draws = createDraws(hash(seed, session.key, 0x2073 + revision));
  const theme = themeOf(seed, session);
  const sections = partsOf(theme, session, draws);
  return Object.entries(TITLES[session.noteType] ?? TITLES['soap'] ?? {}).map(([title, part]) => ({
    title,
    text: sections[part],
  }));
}

type Part = keyof ReturnType<typeof partsOf>;

const TITLES: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  soap: { Subjective: 'history', Objective: 'status', Assessment: 'assessment', Plan: 'plan' },
  dap: { Data: 'history', Assessment: 'assessment', Plan: 'plan' },
  birp: { Behavior: 'history', Intervention: 'intervention', Response: 'response', Plan: 'plan' },
  medication_management: {
    'Interval History': 'history',
    'Mental Status Exam': 'status',
    Medication: 'medication',
    Plan: 'plan',
  },
  psychiatric_follow_up: {
    'Interval History': 'history',
    Medication: 'medication',
    Assessment: 'assessment',
    Plan: 'plan',
  },
};

function partsOf(theme: Theme, session: Session, draws: Draws) {
  const first = draws.below(theme.reported.length);
  const technique = draws.pick(theme.technique);
  return {
    history:
      `Client presents for a ${session.durationMinutes}-minute session regarding ${theme.problem}. ` +
      `Reports ${nth(theme.reported, first)}. Also describes ${nth(theme.reported, first + 1)}. ` +
      `In the client's words: "${draws.pick(theme.said)}"`,
    status:
      `Alert and oriented, appropriately dressed, speech of normal rate and volume. Affect ` +
      `${draws.pick(AFFECTS)}. Thought process linear and goal-directed. Denies suicidal or homicidal ` +
      `ideation, intent or plan.`,
    intervention:
      `Reviewed the week against the treatment plan. Used ${technique}, with examples from the past ` +
      `days, and rehearsed one situation expected before the next visit.`,
    response:
      `Client ${draws.pick(RESPONSES)}. Rated distress ${4 + draws.below(4)} of 10 at the start and ` +
      `${1 + draws.below(3)} of 10 at the end of the session.`,
    medication:
      `Current: ${theme.medication}. Taken as prescribed on ${5 + draws.below(3)} of 7 days; no adverse ` +
      `effects beyond transient dry mouth. Risks, benefits and alternatives reviewed; client agrees to continue.`,
    assessment:
      `Presentation remains consistent with ${theme.problem}, with ${draws.pick(PROGRESS)} toward the ` +
      `treatment goals. Client responded well to ${technique} and can name early warning signs.`,
    plan:
      `Continue ${draws.pick(['weekly', 'biweekly'])} visits. Client will ${draws.pick(theme.homework)}. ` +
      `Next session: review of homework and ${draws.pick(theme.technique)}. Safety plan unchanged; crisis ` +
      `line information given.`,
  };
}
