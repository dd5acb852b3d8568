import { magicEditRaw } from '../../resolvers/assessment.ts';
import { required } from '../builder.ts';
import { Node } from './node.ts';
import { MagicEdit, RAW } from './refs.ts';

MagicEdit.implement({
  description: 'A magic edit: a rewrite of a note that a clinician requested.',
  interfaces: [Node],
  fields: (t) => ({
    magicEditId: t.expose('id', required('UUID', 'UUID of the magic edit.')),
    raw: t.field({ ...RAW, resolve: magicEditRaw }),
  }),
});
