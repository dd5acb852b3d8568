import { Node } from './node.ts';
import { Program, RAW, attribute } from './refs.ts';

Program.implement({
  description: 'A program of an organization, in which clients take part.',
  interfaces: [Node],
  fields: (t) => ({
    programId: t.expose('id', {
      type: 'UUID',
      description: 'UUID of the program.',
      nullable: false,
    }),
    name: t.string({ description: 'Name of the program.', resolve: attribute('name') }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
  }),
});
