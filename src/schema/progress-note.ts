import { isNoteLocked, sessionOfNote } from '../resolvers/progress-note.ts';
import { Node } from './node.ts';
import { ProgressNote, Session } from './refs.ts';

ProgressNote.implement({
  description: 'The note of a session, generated from its transcript.',
  interfaces: [Node],
  fields: (t) => ({
    progressNoteId: t.field({
      type: 'UUID',
      description: 'Null while the first generation runs. May change with a regeneration.',
      resolve: (note) => note.record.id,
    }),
    isLoading: t.boolean({
      description: 'True while it is being generated, or generated again.',
      nullable: false,
      resolve: (note) => note.record.isLoading,
    }),
    note: t.field({
      type: ['JSON'],
      description:
        'Empty or partial while `isLoading`. The Partner API does not document the elements’ shape.',
      nullable: false,
      resolve: (note) => note.record.note,
    }),
    isLocked: t.boolean({
      description:
        'True once this gateway knows that the note is finalized: editing then answers ProgressNoteLocked. Null otherwise.',
      resolve: isNoteLocked,
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      nullable: false,
      resolve: (note) => note.record.raw,
    }),
    session: t.field({
      type: Session,
      description: 'The session it belongs to, where this gateway knows it.',
      resolve: sessionOfNote,
    }),
  }),
});
