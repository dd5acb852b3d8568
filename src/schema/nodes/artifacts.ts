import { isNoteLocked, sessionOfNote } from '../../resolvers/artifacts.ts';
import type {
  ProblemAddressed as Problem,
  ScoreAnswer,
  TranscriptItem as Item,
} from '../../rest/records.ts';
import { RAW, builder, enumValues, nodeType, optional, required } from '../builder.ts';
import { selectedSubfields } from '../selections.ts';

const REQUIRED_RAW = { ...RAW, nullable: false };

nodeType(
  'ProgressNote',
  'The progress note of a session, generated from its transcript. Its `id` stays the same over regenerations.',
  (t) => ({
    progressNoteId: t.field({
      type: 'UUID',
      description:
        'UUID of the note. Null while the first generation runs. A regeneration may change it.',
      resolve: (note) => note.record.id,
    }),
    isLoading: required('Boolean', 'True while the note is being generated or regenerated.'),
    note: required(
      ['JSON'],
      'The content of the note. Empty or partial while `isLoading`. The Partner API does not document the shape of the elements.',
    ),
    isLocked: t.field({
      type: 'Boolean',
      description:
        'True if the note is known to be finalized: changes to it then return ProgressNoteLocked. Null otherwise.',
      resolve: isNoteLocked,
    }),
    raw: REQUIRED_RAW,
    session: t.field({
      ...optional('Session', 'The session of the note, if it is known.'),
      resolve: sessionOfNote,
    }),
  }),
);

const TranscriptItem = builder.objectRef<Item>('TranscriptItem').implement({
  description: 'One uninterrupted utterance of a speaker.',
  fields: (t) => ({
    startTime: t.expose(
      'startTime',
      optional('JSON', 'Start time, as the Partner API returned it.'),
    ),
    endTime: t.expose('endTime', optional('JSON', 'End time, as the Partner API returned it.')),
    speaker: t.exposeString('speaker', { description: 'The speaker.' }),
    transcript: t.exposeString('transcript', { description: 'The spoken text.' }),
  }),
});

/** A short value with its name. */
const VALUE_BYTES = 20;

nodeType('Transcript', 'The transcript of a session, by speaker.', (t) => ({
  session: t.expose('session', required('Session', 'The session that was transcribed.')),
  items: t.field({
    ...required(
      [TranscriptItem],
      'The utterances, in the order in which the Partner API returned them.',
    ),
    extensions: { isAttribute: true },
    resolve: ({ record: { items } }, _args, ctx, info) => {
      const subfields = selectedSubfields(info, ctx);
      // Each alias of the text returns it once more.
      const times = subfields.filter(({ field }) => field.name === 'transcript').length;
      const characters = items.reduce((sum, { transcript }) => sum + (transcript?.length ?? 0), 0);
      ctx.responseSize.add(items.length * subfields.length * VALUE_BYTES + characters * times);
      return ctx.responseSize.addValue(items);
    },
  }),
  raw: REQUIRED_RAW,
}));

const levels = {
  na: 'Not applicable.',
  minimal: 'Minimal.',
  low: 'Low.',
  moderate: 'Moderate.',
  high: 'High.',
} as const;

const MDMLevel = builder.enumType('MDMLevel', {
  description: 'Level of medical decision making.',
  values: enumValues(levels),
});

/** A level that the Partner API adds later is null here; `raw` has it. */
function levelOf({ level }: Problem): keyof typeof levels | null {
  const name = level?.toLowerCase() ?? '';
  return Object.hasOwn(levels, name) ? (name as keyof typeof levels) : null;
}

const ProblemAddressed = builder.objectRef<Problem>('ProblemAddressed').implement({
  description: 'A problem addressed in the session.',
  fields: (t) => ({
    rationale: t.exposeString('rationale', { description: 'Reason for the level.' }),
    level: t.field({
      ...optional(MDMLevel, 'Level of decision making for this problem.'),
      resolve: levelOf,
    }),
  }),
});

nodeType('MDM', 'Medical decision making elements of a session.', (t) => ({
  session: t.expose(
    'session',
    required('Session', 'The session that the elements were identified in.'),
  ),
  problemsAddressed: required([ProblemAddressed], 'The problems addressed in the session.'),
  risk: optional('JSON', 'The risk of complications, as the Partner API returned it.'),
  crisisIntervention: optional('Boolean', 'Whether crisis intervention was identified.'),
  raw: REQUIRED_RAW,
}));

nodeType('Assessment', 'An assessment (questionnaire) that a clinic uses.', (t) => ({
  assessmentId: t.expose(
    'id',
    required('String', 'Identifier of the assessment: a string such as `phq9`, not a UUID.'),
  ),
  name: 'Name of the assessment.',
  raw: RAW,
}));

const AssessmentAnswer = builder.objectRef<ScoreAnswer>('AssessmentAnswer').implement({
  description: 'The answer to one question of an assessment.',
  fields: (t) => ({
    questionKey: t.exposeString('questionKey', { description: 'Key of the question.' }),
    questionDisplay: t.exposeString('questionDisplay', { description: 'Text of the question.' }),
    answerValue: t.expose(
      'answerValue',
      optional('JSON', 'Value of the answer, as the Partner API returned it.'),
    ),
    answerDisplay: t.exposeString('answerDisplay', { description: 'Text of the answer.' }),
  }),
});

nodeType('AssessmentScore', 'The score of a client in one assessment.', (t) => ({
  assessmentScoreId: t.expose('id', required('UUID', 'UUID of the score.')),
  assessmentId: 'Identifier of the assessment, such as `phq9`.',
  totalScore: optional('Float', 'Total score.'),
  answers: required([AssessmentAnswer], 'The answers, one for each question.'),
  client: t.field({
    type: 'Client',
    description:
      'The client who was assessed. Null for a score that was requested by its bare UUID.',
    resolve: ({ clientId }) =>
      clientId ? { type: 'Client' as const, id: clientId, open: true } : null,
  }),
  raw: REQUIRED_RAW,
}));
