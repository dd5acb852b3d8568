import { attribute } from './attribute.ts';
import { Node } from './node.ts';
import { Program } from './refs.ts';

Program.implement({
  description: 'A program of an organization, which clients take part in.',
  interfaces: [Node],
  fields: (t) => ({
    programId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    name: t.string({ description: 'Its name.', resolve: attribute('name') }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
  }),
});
