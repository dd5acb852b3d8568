import { isNoteLocked, sessionOfNote } from '../../resolvers/progress-note.ts';
import { required } from '../builder.ts';
import { Node } from './node.ts';
import { ProgressNote, RAW, Session } from './refs.ts';

ProgressNote.implement({
  description:
    'The progress note of a session, generated from its transcript. Its `id` stays the same over regenerations.',
  interfaces: [Node],
  fields: (t) => ({
    progressNoteId: t.field({
      type: 'UUID',
      description:
        'UUID of the note. Null while the first generation runs. A regeneration may change it.',
      resolve: (note) => note.record.id,
    }),
    isLoading: t.field({
      ...required('Boolean', 'True while the note is being generated or regenerated.'),
      resolve: (note) => note.record.isLoading,
    }),
    note: t.field({
      ...required(
        ['JSON'],
        'The content of the note. Empty or partial while `isLoading`. The Partner API does not document the shape of the elements.',
      ),
      resolve: (note) => note.record.note,
    }),
    isLocked: t.boolean({
      description:
        'True once this gateway knows that the note is finalized: changes to it then return ProgressNoteLocked. Null otherwise.',
      resolve: isNoteLocked,
    }),
    raw: t.field({ ...RAW, nullable: false, resolve: (note) => note.record.raw }),
    session: t.field({
      type: Session,
      description: 'The session of the note, if it is known.',
      resolve: sessionOfNote,
    }),
  }),
});
