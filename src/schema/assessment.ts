import { assessmentAttribute } from '../resolvers/assessment.ts';
import { Node } from './node.ts';
import { Assessment } from './refs.ts';

Assessment.implement({
  description: 'A questionnaire that a clinic uses.',
  interfaces: [Node],
  fields: (t) => ({
    assessmentId: t.exposeString('id', {
      description: 'A string such as `phq9`, not a UUID.',
      nullable: false,
    }),
    name: t.string({ description: 'Its name.', resolve: assessmentAttribute('name') }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: assessmentAttribute('raw'),
    }),
  }),
});
