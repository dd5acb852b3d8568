import { magicEditRaw } from '../resolvers/magic-edit-record.ts';
import { Node } from './node.ts';
import { MagicEdit } from './refs.ts';

MagicEdit.implement({
  description: 'One magic edit that a clinician asked for.',
  interfaces: [Node],
  fields: (t) => ({
    magicEditId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: magicEditRaw,
    }),
  }),
});
