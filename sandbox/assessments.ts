/** Instruments a clinic can hand out. The questions are paraphrases, enough to read like the real thing. */
export interface Assessment {
  readonly id: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly answers: readonly string[];
  readonly questions: readonly string[];
}

const HOW_OFTEN = 'Not at all, Several days, More than half the days, Nearly every day';
const AGREEMENT = 'Never, Rarely, Sometimes, Often, Very often';
const SEVERITY = 'None, Mild, Moderate, Severe, Very severe';
const YES_NO = 'No, Yes';

const ASSESSMENTS: readonly Assessment[] = [
  scale(
    'phq9',
    'Depression, nine items',
    true,
    HOW_OFTEN,
    'Low interest, Low mood, Sleep trouble, Low energy, Appetite change, Feeling like a failure, Trouble concentrating, Slowed or restless, Thoughts of being better off dead',
  ),
  scale(
    'gad7',
    'Anxiety, seven items',
    true,
    HOW_OFTEN,
    'On edge, Cannot stop worrying, Worrying too much, Trouble relaxing, Restlessness, Easily annoyed, Afraid something awful might happen',
  ),
  scale(
    'who5',
    'Well-being, five items',
    true,
    'At no time, Some of the time, Half of the time, Most of the time, All of the time',
    'Cheerful, Calm, Active, Rested, Interested in daily life',
  ),
  scale(
    'isi',
    'Sleep, seven items',
    false,
    SEVERITY,
    'Falling asleep, Staying asleep, Waking too early, Dissatisfaction with sleep, Noticeable to others, Worry about sleep, Interference with the day',
  ),
  scale(
    'asrs',
    'Attention, six items',
    false,
    AGREEMENT,
    'Wrapping up details, Keeping things in order, Remembering appointments, Putting off long tasks, Fidgeting, Feeling driven',
  ),
  scale(
    'auditc',
    'Alcohol use, three items',
    false,
    AGREEMENT,
    'How often, How much, Six or more at once',
  ),
  scale(
    'pcl5s',
    'Trauma symptoms, short form',
    false,
    SEVERITY,
    'Disturbing memories, Avoiding reminders, Feeling distant, Being jumpy',
  ),
  scale(
    'epds4',
    'Perinatal mood, short form',
    false,
    HOW_OFTEN,
    'Anxious without reason, Scared or panicky, Overwhelmed, Unhappy and tearful',
  ),
  scale(
    'mdqs',
    'Mood swings, screening',
    false,
    YES_NO,
    'Unusually much energy, Much less sleep than usual, Racing thoughts, More talkative, Risky decisions',
  ),
  scale(
    'dasts',
    'Substance use, screening',
    false,
    YES_NO,
    'Use beyond what is prescribed, Trouble stopping, Complaints from others, Missed duties',
  ),
  scale('phq2', 'Depression, two items', false, HOW_OFTEN, 'Low interest, Low mood'),
];

/** The first clinic offers all, two pages of them; the others leave some out. */
export const assessmentsOfClinic = (clinic: number): readonly Assessment[] =>
  clinic === 0 ? ASSESSMENTS : ASSESSMENTS.filter((_, index) => index < 3 || index % 5 !== clinic);

export const assessmentRecord = ({ id, name, isDefault, questions }: Assessment) => ({
  id,
  name,
  isDefault,
  questionCount: questions.length,
});

function scale(
  id: string,
  name: string,
  isDefault: boolean,
  answers: string,
  questions: string,
): Assessment {
  return { id, name, isDefault, answers: answers.split(', '), questions: questions.split(', ') };
}
