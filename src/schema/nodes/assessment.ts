import { assessmentAttribute, clientOfScore } from '../../resolvers/assessment.ts';
import type { ScoreAnswer } from '../../rest/records.ts';
import { builder, required } from '../builder.ts';
import { Node } from './node.ts';
import { Assessment, AssessmentScore, Client, RAW } from './refs.ts';

Assessment.implement({
  description: 'An assessment (questionnaire) that a clinic uses.',
  interfaces: [Node],
  fields: (t) => ({
    assessmentId: t.expose(
      'id',
      required('String', 'Identifier of the assessment: a string such as `phq9`, not a UUID.'),
    ),
    name: t.string({
      description: 'Name of the assessment.',
      resolve: assessmentAttribute('name'),
    }),
    raw: t.field({ ...RAW, resolve: assessmentAttribute('raw') }),
  }),
});

const AssessmentAnswer = builder.objectRef<ScoreAnswer>('AssessmentAnswer').implement({
  description: 'The answer to one question of an assessment.',
  fields: (t) => ({
    questionKey: t.exposeString('questionKey', { description: 'Key of the question.' }),
    questionDisplay: t.exposeString('questionDisplay', { description: 'Text of the question.' }),
    answerValue: t.expose('answerValue', {
      type: 'JSON',
      description: 'Value of the answer, as the Partner API returned it.',
    }),
    answerDisplay: t.exposeString('answerDisplay', { description: 'Text of the answer.' }),
  }),
});

AssessmentScore.implement({
  description: 'The score of a client in one assessment.',
  interfaces: [Node],
  fields: (t) => ({
    assessmentScoreId: t.expose('id', required('UUID', 'UUID of the score.')),
    assessmentId: t.string({
      description: 'Identifier of the assessment, such as `phq9`.',
      resolve: (score) => score.record.assessmentId,
    }),
    totalScore: t.float({
      description: 'Total score.',
      resolve: (score) => score.record.totalScore,
    }),
    answers: t.field({
      ...required([AssessmentAnswer], 'The answers, one for each question.'),
      resolve: (score) => score.record.answers,
    }),
    client: t.field({
      type: Client,
      description:
        'The client who was assessed. Null for a score that was requested by its bare UUID.',
      resolve: clientOfScore,
    }),
    raw: t.field({ ...RAW, nullable: false, resolve: (score) => score.record.raw }),
  }),
});
