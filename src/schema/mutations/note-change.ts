import {
  type NoteChange,
  magicEdit,
  noteAfterChange,
  regenerateNote,
  updateNote,
} from '../../resolvers/mutations/note-change.ts';
import { builder, optional, required, requiredArg } from '../builder.ts';
import { oneCall } from '../estimate-calls.ts';
import { type GlobalIds, noteTargetOf } from '../global-id.ts';
import { InvalidInput, NotFound, ProgressNoteLocked, resolveType } from './problems.ts';

const ProgressNoteChange = builder.objectRef<NoteChange>('ProgressNoteChange').implement({
  description:
    'The change was accepted. A rewrite goes on in the background; a `progress_note_regenerated` event follows.',
  fields: (t) => ({
    progressNote: t.field({
      type: 'ProgressNote',
      description:
        'The note as it is now, read again. While a rewrite runs it has the old text, or part of the new one.',
      extensions: oneCall,
      resolve: noteAfterChange,
    }),
    cursor: t.expose(
      'cursor',
      required(
        'EventCursor',
        'Position of the event log just before the change. Subscribe with it as `after` to be sure to receive the result.',
      ),
    ),
    raw: t.expose('raw', optional('JSON', 'The Partner API’s response.')),
  }),
});

const resultOf = (name: string, description: string) =>
  builder.unionType(name, {
    description,
    types: [ProgressNoteChange, ProgressNoteLocked, InvalidInput, NotFound],
    resolveType,
  });

const NOTE = { required: true, description: 'Global id or UUID of the note.' } as const;
const KEY = {
  description:
    'Idempotency key: 1 to 200 characters, new for each user action. For a day, the same key from the same viewer returns the first call’s result without a second edit; with other input it is InvalidInput. If the first call ended in OUTCOME_UNKNOWN, so does every later one: nothing is sent again.',
};
const SESSION = {
  description:
    'Session of the note. A note’s bare UUID needs `sessionId` and `clientId`, so that access can be proven.',
};
const CLIENT = { description: 'Client of the session.' };

const MagicEditInput = builder.inputType('MagicEditInput', {
  description: 'The note to rewrite, and the instructions.',
  fields: (t) => ({
    progressNoteId: t.id(NOTE),
    userInstructions: t.field(
      requiredArg('String', 'Instructions for the rewrite: 1 to 5000 characters after trimming.'),
    ),
    idempotencyKey: t.string(KEY),
    sessionId: t.id(SESSION),
    clientId: t.id(CLIENT),
  }),
});

const RegenerateProgressNoteInput = builder.inputType('RegenerateProgressNoteInput', {
  description: 'The note to regenerate.',
  fields: (t) => ({
    progressNoteId: t.id(NOTE),
    idempotencyKey: t.string(KEY),
    sessionId: t.id(SESSION),
    clientId: t.id(CLIENT),
  }),
});

const UpdateProgressNoteInput = builder.inputType('UpdateProgressNoteInput', {
  description: 'The note to update, and the patch.',
  fields: (t) => ({
    progressNoteId: t.id(NOTE),
    sessionId: t.id(SESSION),
    clientId: t.id(CLIENT),
    patch: t.field(
      requiredArg(
        'JSON',
        'Body of the PATCH: a JSON object, sent unchanged, since the Partner API does not document it.',
      ),
    ),
  }),
});

const withTarget = <I extends Omit<typeof UpdateProgressNoteInput.$inferInput, 'patch'>>(
  input: I,
  ids: GlobalIds,
) => ({ ...input, ...noteTargetOf('progressNoteId', input.progressNoteId, input, ids) });

builder.mutationFields((t) => ({
  magicEdit: t.field({
    type: resultOf('MagicEditResult', 'The outcome of a magic edit.'),
    description:
      'Rewrites a note as `userInstructions` says. Sent once: if the Partner API gives no clear answer, the error is OUTCOME_UNKNOWN, and a `progress_note_regenerated` event shows whether the edit took effect.',
    args: { input: t.arg(requiredArg(MagicEditInput, 'The note and the instructions.')) },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => magicEdit(withTarget(input, ctx.ids), ctx),
  }),
  regenerateProgressNote: t.field({
    type: resultOf('RegenerateProgressNoteResult', 'The outcome of a regeneration.'),
    description:
      'Generates a note again from its transcript. Sent once; OUTCOME_UNKNOWN means the same as for `magicEdit`.',
    args: { input: t.arg(requiredArg(RegenerateProgressNoteInput, 'The note.')) },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => regenerateNote(withTarget(input, ctx.ids), ctx),
  }),
  updateProgressNote: t.field({
    type: resultOf('UpdateProgressNoteResult', 'The outcome of an update.'),
    description:
      'Updates a note with a patch. After OUTCOME_UNKNOWN, read the note to see whether it was changed.',
    args: { input: t.arg(requiredArg(UpdateProgressNoteInput, 'The note and the patch.')) },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => updateNote(withTarget(input, ctx.ids), ctx),
  }),
}));
