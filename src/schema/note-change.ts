import type { Context } from '../context.ts';
import { auditedWrite } from '../resolvers/audited-write.ts';
import {
  type NoteChange,
  type NoteTarget,
  magicEdit,
  noteAfterChange,
  regenerateNote,
  updateNote,
} from '../resolvers/note-change.ts';
import { oneCall } from '../resolvers/price.ts';
import { builder } from './builder.ts';
import { namedSessionOf, noteNameOf } from './global-id.ts';
import { InvalidInput, NotFound, ProgressNoteLocked, typeOfOutcome } from './problems.ts';
import { ProgressNote } from './refs.ts';

const ProgressNoteChange = builder.objectRef<NoteChange>('ProgressNoteChange').implement({
  description:
    'The change was accepted. A rewrite runs on: `progress_note_regenerated` follows as an event.',
  fields: (t) => ({
    progressNote: t.field({
      type: ProgressNote,
      description:
        'The note as it is now, fetched anew: still the old text, or part of the new one, while a rewrite runs.',
      extensions: oneCall,
      resolve: noteAfterChange,
    }),
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      description:
        'The log’s position just before the change: subscribe `after` it, and the result can’t be missed.',
      nullable: false,
    }),
    raw: t.expose('raw', { type: 'JSON', description: 'The Partner API’s answer.' }),
  }),
});

const outcomes = [ProgressNoteChange, ProgressNoteLocked, InvalidInput, NotFound] as const;
const resultOf = (name: string, description: string) =>
  builder.unionType(name, { description, types: [...outcomes], resolveType: typeOfOutcome });

const KEY =
  'Any 1 to 200 characters, new for each click. For a day, the same key from the same viewer gets the first call’s result and no second edit; with other input it is InvalidInput. If that first call ended in OUTCOME_UNKNOWN, so does every further one: nothing is sent again.';
const NOTE = 'Which note: its global id, or its UUID.';
const SESSION =
  'With `clientId`: lets the gateway prove whose note it is when it has not met the note yet.';
const CLIENT = 'The client whose session it is.';

const MagicEditInput = builder.inputType('MagicEditInput', {
  description: 'Which note to rewrite, and how.',
  fields: (t) => ({
    progressNoteId: t.id({ required: true, description: NOTE }),
    userInstructions: t.string({
      required: true,
      description: 'What to change, in words: 1 to 5000 characters once trimmed.',
    }),
    idempotencyKey: t.string({ description: KEY }),
    sessionId: t.id({ description: SESSION }),
    clientId: t.id({ description: CLIENT }),
  }),
});

const RegenerateProgressNoteInput = builder.inputType('RegenerateProgressNoteInput', {
  description: 'Which note to write again.',
  fields: (t) => ({
    progressNoteId: t.id({ required: true, description: NOTE }),
    idempotencyKey: t.string({ description: KEY }),
    sessionId: t.id({ description: SESSION }),
    clientId: t.id({ description: CLIENT }),
  }),
});

const UpdateProgressNoteInput = builder.inputType('UpdateProgressNoteInput', {
  description: 'Which note to change, and to what.',
  fields: (t) => ({
    progressNoteId: t.id({ required: true, description: NOTE }),
    sessionId: t.id({ description: SESSION }),
    clientId: t.id({ description: CLIENT }),
    patch: t.field({
      type: 'JSON',
      required: true,
      description:
        'The body of the PATCH, a JSON object: passed on as it is, since the Partner API does not document it.',
    }),
  }),
});

interface TargetInput {
  readonly progressNoteId: string;
  readonly sessionId?: string | null | undefined;
  readonly clientId?: string | null | undefined;
}

const targetOf = (input: TargetInput, { ids }: Context): NoteTarget => ({
  name: noteNameOf('progressNoteId', input.progressNoteId, ids),
  ...namedSessionOf(input, ids),
});

const keyOf = ({ idempotencyKey }: { readonly idempotencyKey?: string | null | undefined }) => ({
  idempotencyKey,
});

/** For the audit: which note, by the name that the client used. */
const recordOf = ({ name }: NoteTarget) =>
  'noteId' in name ? `ProgressNote:${name.noteId}` : `ProgressNote:session:${name.sessionId}`;

builder.mutationFields((t) => ({
  magicEdit: t.field({
    type: resultOf('MagicEditResult', 'What became of a magic edit.'),
    description:
      'Rewrites a note as `userInstructions` asks. Sent once: if no clear answer comes, the error OUTCOME_UNKNOWN says so, and whether `progress_note_regenerated` follows tells what came of it.',
    args: { input: t.arg({ type: MagicEditInput, required: true, description: 'What to do.' }) },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const target = targetOf(input, ctx);
      return auditedWrite('magicEdit', recordOf(target), ctx, () =>
        magicEdit({ ...target, ...keyOf(input), userInstructions: input.userInstructions }, ctx),
      );
    },
  }),
  regenerateProgressNote: t.field({
    type: resultOf('RegenerateProgressNoteResult', 'What became of a regeneration.'),
    description:
      'Writes a note again from its transcript. Sent once, like `magicEdit`, and OUTCOME_UNKNOWN means the same.',
    args: {
      input: t.arg({
        type: RegenerateProgressNoteInput,
        required: true,
        description: 'What to do.',
      }),
    },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const target = targetOf(input, ctx);
      return auditedWrite('regenerateProgressNote', recordOf(target), ctx, () =>
        regenerateNote({ ...target, ...keyOf(input) }, ctx),
      );
    },
  }),
  updateProgressNote: t.field({
    type: resultOf('UpdateProgressNoteResult', 'What became of an update.'),
    description:
      'Changes a note by hand. After OUTCOME_UNKNOWN, read the note to see whether it was changed.',
    args: {
      input: t.arg({ type: UpdateProgressNoteInput, required: true, description: 'What to do.' }),
    },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const target = targetOf(input, ctx);
      return auditedWrite('updateProgressNote', recordOf(target), ctx, () =>
        updateNote({ ...target, patch: input.patch }, ctx),
      );
    },
  }),
}));
