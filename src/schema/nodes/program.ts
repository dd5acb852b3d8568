import { required } from '../builder.ts';
import { Node } from './node.ts';
import { Program, RAW, attribute } from './refs.ts';

Program.implement({
  description: 'A program of an organization, in which clients take part.',
  interfaces: [Node],
  fields: (t) => ({
    programId: t.expose('id', required('UUID', 'UUID of the program.')),
    name: t.string({ description: 'Name of the program.', resolve: attribute('name') }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
  }),
});
