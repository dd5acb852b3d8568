import { createRandom, hash, itemAt } from '../data/random.ts';
import type { Session } from '../data/sessions.ts';
import { THEMES, type Theme } from './themes.ts';

export type NoteSection = Readonly<{ title: string; text: string }>;

/** A client has one theme, so that all their sessions read like one course of treatment. */
export const themeOf = (seed: number, session: Session): Theme =>
  itemAt(THEMES, hash(seed, session.client, 0x7e4e));

type Part = keyof ReturnType<typeof wordings>;

/** The sections of each note type, and the content of each section. */
const [PLAN, ASSESSMENT] = [{ Plan: 'plan' }, { Assessment: 'assessment' }] as const;
const MEDICATION = { 'Interval History': 'history', Medication: 'medication' } as const;
const SECTIONS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  soap: { Subjective: 'history', Objective: 'status', ...ASSESSMENT, ...PLAN },
  dap: { Data: 'history', ...ASSESSMENT, ...PLAN },
  birp: { Behavior: 'history', Intervention: 'intervention', Response: 'response', ...PLAN },
  medication_management: { ...MEDICATION, 'Mental Status Exam': 'status', ...PLAN },
  psychiatric_follow_up: { ...MEDICATION, ...ASSESSMENT, ...PLAN },
};

const RESPONSES = [
  'engaged readily and gave examples of their own',
  'was hesitant at first and then took part actively',
  'named one obstacle and worked out a solution in session',
];

/** The note of a session. Another revision has the same facts, worded differently. */
export function noteText(seed: number, session: Session, revision: number): readonly NoteSection[] {
  const texts = wordings(seed, session);
  return Object.entries(SECTIONS[session.record.noteType] ?? {}).map(([title, part]) => ({
    title,
    text: itemAt(texts[part], revision),
  }));
}

function wordings(seed: number, session: Session) {
  const { problem, medication, ...theme } = themeOf(seed, session);
  const random = createRandom(hash(seed, session.key, 0x2073));
  const minutes = session.record.durationMinutes;
  const first = random.below(theme.reported.length);
  const reported = itemAt(theme.reported, first);
  const alsoReported = itemAt(theme.reported, first + 1);
  const said = random.pick(theme.said);
  const technique = random.pick(theme.technique);
  const nextTechnique = random.pick(theme.technique);
  const homework = random.pick(theme.homework);
  const affect = random.pick(['congruent', 'constricted at first, then full', 'mildly anxious']);
  const progress = random.pick(['steady progress', 'some progress', 'clear improvement']);
  const response = random.pick(RESPONSES);
  const [before, after] = [4 + random.below(4), 1 + random.below(3)];
  const daysTaken = 5 + random.below(3);
  const frequency = random.pick(['weekly', 'biweekly']);
  return {
    history: [
      `Client presents for a ${minutes}-minute session regarding ${problem}. Reports ${reported}. Also describes ${alsoReported}. In the client's words: "${said}"`,
      `Seen for ${minutes} minutes for ${problem}. "${said}" the client says, and describes ${reported}. Further reports ${alsoReported}.`,
    ],
    status: [
      `Alert and oriented, appropriately dressed, speech of normal rate and volume. Affect ${affect}. Thought process linear and goal-directed. Denies suicidal or homicidal ideation, intent or plan.`,
      `Oriented in all spheres and well groomed, with speech of normal rate and volume. Affect is ${affect}, thought process logical. No suicidal or homicidal ideation, intent or plan reported.`,
    ],
    intervention: [
      `Reviewed the week against the treatment plan. Used ${technique}, with examples from the past days, and rehearsed one situation expected before the next visit.`,
      `The past week was compared with the treatment plan. The session then turned to ${technique}, applied to recent examples and to one situation expected before the next visit.`,
    ],
    response: [
      `Client ${response}. Rated distress ${before} of 10 at the start and ${after} of 10 at the end of the session.`,
      `Distress fell from ${before} to ${after} of 10, by the client's own rating. Client ${response}.`,
    ],
    medication: [
      `Current: ${medication}. Taken as prescribed on ${daysTaken} of 7 days; no adverse effects beyond transient dry mouth. Risks, benefits and alternatives reviewed; client agrees to continue.`,
      `Client takes ${medication}, on ${daysTaken} of the past 7 days as prescribed. Transient dry mouth, no other adverse effects. Agrees to continue after a review of risks, benefits and alternatives.`,
    ],
    assessment: [
      `Presentation remains consistent with ${problem}, with ${progress} toward the treatment goals. Client responded well to ${technique} and can name early warning signs.`,
      `There is ${progress} toward the treatment goals; the picture is still that of ${problem}. Early warning signs are known to the client, who responded well to ${technique}.`,
    ],
    plan: [
      `Continue ${frequency} visits. Client will ${homework}. Next session: review of homework and ${nextTechnique}. Safety plan unchanged; crisis line information given.`,
      `Visits stay ${frequency}. Until the next one the client will ${homework}. Then: review of homework and ${nextTechnique}. Crisis line information given, safety plan unchanged.`,
    ],
  };
}
