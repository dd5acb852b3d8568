import { CLIENTS, clinicOfClinician } from './hierarchy.ts';
import type { Ids } from './ids.ts';
import { createRandom, hash, itemAt } from './random.ts';
import type { Roster } from './roster.ts';

const FREQUENCY = 'Not at all, Several days, More than half the days, Nearly every day';
const OFTEN = 'Never, Rarely, Sometimes, Often, Very often';
const TIME = 'At no time, Some of the time, Half of the time, Most of the time, All of the time';
const SEVERITY = 'None, Mild, Moderate, Severe, Very severe';
const YES_NO = 'No, Yes';

/** Assessments, one per line: id | name | answers | questions (paraphrased). The first three are the defaults. */
const ASSESSMENTS = `
phq9 | Depression, nine items | ${FREQUENCY} | Low interest, Low mood, Sleep trouble, Low energy, Appetite change, Feeling like a failure, Trouble concentrating, Slowed or restless, Thoughts of being better off dead
gad7 | Anxiety, seven items | ${FREQUENCY} | On edge, Cannot stop worrying, Worrying too much, Trouble relaxing, Restlessness, Easily annoyed, Afraid something awful might happen
who5 | Well-being, five items | ${TIME} | Cheerful, Calm, Active, Rested, Interested in daily life
isi | Sleep, seven items | ${SEVERITY} | Falling asleep, Staying asleep, Waking too early, Dissatisfaction with sleep, Noticeable to others, Worry about sleep, Interference with the day
asrs | Attention, six items | ${OFTEN} | Wrapping up details, Keeping things in order, Remembering appointments, Putting off long tasks, Fidgeting, Feeling driven
auditc | Alcohol use, three items | ${OFTEN} | How often, How much, Six or more at once
pcl5s | Trauma symptoms, short form | ${SEVERITY} | Disturbing memories, Avoiding reminders, Feeling distant, Being jumpy
epds4 | Perinatal mood, short form | ${FREQUENCY} | Anxious without reason, Scared or panicky, Overwhelmed, Unhappy and tearful
mdqs | Mood swings, screening | ${YES_NO} | Unusually much energy, Much less sleep than usual, Racing thoughts, More talkative, Risky decisions
dasts | Substance use, screening | ${YES_NO} | Use beyond what is prescribed, Trouble stopping, Complaints from others, Missed duties
phq2 | Depression, two items | ${FREQUENCY} | Low interest, Low mood`
  .trim()
  .split('\n')
  .map((line, index) => {
    const [id = '', name = '', answers = '', questions = ''] = line.split(' | ');
    return {
      id,
      name,
      isDefault: index < 3,
      answers: answers.split(', '),
      questions: questions.split(', '),
    };
  });

type Assessment = (typeof ASSESSMENTS)[number];

/** The first clinic offers all assessments, which fill two pages. The other clinics offer only some. */
export const assessmentsOfClinic = (clinic: number): readonly Assessment[] =>
  clinic === 0 ? ASSESSMENTS : ASSESSMENTS.filter((_, index) => index < 3 || index % 5 !== clinic);

export const assessmentRecord = ({ id, name, isDefault, questions }: Assessment) => ({
  id,
  name,
  isDefault,
  questionCount: questions.length,
});

export type CompletedAssessment = ReturnType<ReturnType<typeof createScores>['complete']>[number];

const SEEDED_PER_CLIENT = 2;

/** Completed assessments. The API has no list of them: their ids are only in events. */
export function createScores(seed: number, ids: Ids, roster: Roster, nextKey: () => number) {
  const completed = new Map<number, { readonly client: number; readonly assessment: Assessment }>();

  const offeredTo = (client: number) =>
    assessmentsOfClinic(clinicOfClinician(roster.clinicianOf(client) ?? 0));

  function seeded(key: number) {
    const client = Math.floor(key / SEEDED_PER_CLIENT);
    if (client >= CLIENTS) return undefined;
    return { client, assessment: itemAt(offeredTo(client), key % SEEDED_PER_CLIENT) };
  }

  return {
    seededOf: (client: number): readonly string[] =>
      Array.from({ length: SEEDED_PER_CLIENT }, (_, index) =>
        ids.idOf('score', client * SEEDED_PER_CLIENT + index),
      ),
    find(id: string) {
      const key = ids.keyOf('score', id);
      if (key === undefined) return undefined;
      const found = completed.get(key) ?? seeded(key);
      if (!found || roster.clinicianOf(found.client) === undefined) return undefined;
      return scoreRecord(ids.idOf('score', key), found.assessment, hash(seed, key, 0x5c0e));
    },
    /** The client completes the first `count` assessments that their clinic offers. */
    complete(client: number, count: number) {
      return offeredTo(client)
        .slice(0, count)
        .map((assessment) => {
          const key = nextKey();
          completed.set(key, { client, assessment });
          return { id: ids.idOf('score', key), assessmentId: assessment.id };
        });
    },
  };
}

function scoreRecord(id: string, assessment: Assessment, seed: number) {
  const random = createRandom(seed);
  const answers = assessment.questions.map((questionDisplay, index) => {
    const answerValue = random.below(assessment.answers.length);
    return {
      questionKey: `${assessment.id}_${index + 1}`,
      questionDisplay,
      answerValue,
      answerDisplay: itemAt(assessment.answers, answerValue),
    };
  });
  const totalScore = answers.reduce((sum, { answerValue }) => sum + answerValue, 0);
  return { id, assessmentId: assessment.id, totalScore, answers };
}
