import { clientOfScore } from '../resolvers/assessment-score.ts';
import type { ScoreAnswer } from '../rest/records.ts';
import { builder } from './builder.ts';
import { Node } from './node.ts';
import { AssessmentScore, Client } from './refs.ts';

const AssessmentAnswer = builder.objectRef<ScoreAnswer>('AssessmentAnswer').implement({
  description: 'The answer to one question.',
  fields: (t) => ({
    questionKey: t.exposeString('questionKey', { description: 'Which question.' }),
    questionDisplay: t.exposeString('questionDisplay', { description: 'The question as asked.' }),
    answerValue: t.expose('answerValue', {
      type: 'JSON',
      description: 'The answer’s value, as the Partner API gave it.',
    }),
    answerDisplay: t.exposeString('answerDisplay', { description: 'The answer as shown.' }),
  }),
});

AssessmentScore.implement({
  description: 'What a client scored in one assessment.',
  interfaces: [Node],
  fields: (t) => ({
    assessmentScoreId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    assessmentId: t.string({
      description: 'Which assessment.',
      resolve: (score) => score.record.assessmentId,
    }),
    totalScore: t.float({
      description: 'The total.',
      resolve: (score) => score.record.totalScore,
    }),
    answers: t.field({
      type: [AssessmentAnswer],
      description: 'One for each question.',
      nullable: false,
      resolve: (score) => score.record.answers,
    }),
    client: t.field({
      type: Client,
      description: 'Whose score it is, where an event has told.',
      resolve: clientOfScore,
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      nullable: false,
      resolve: (score) => score.record.raw,
    }),
  }),
});
