import { magicEditRaw } from '../../resolvers/magic-edit-record.ts';
import { Node } from './node.ts';
import { MagicEdit, RAW } from './refs.ts';

MagicEdit.implement({
  description: 'A magic edit: a rewrite of a note that a clinician requested.',
  interfaces: [Node],
  fields: (t) => ({
    magicEditId: t.expose('id', {
      type: 'UUID',
      description: 'UUID of the magic edit.',
      nullable: false,
    }),
    raw: t.field({ ...RAW, resolve: magicEditRaw }),
  }),
});
