import type { Context } from '../context.ts';
import { NOT_FOUND } from '../errors.ts';
import { textOf } from '../json.ts';
import { noteAfterChange } from '../resolvers/artifacts.ts';
import type { Invalid, Minted, Missing, Rejected } from '../resolvers/mutations.ts';
import {
  assignSecondaryClinicians,
  authenticateClinician,
  changeNote,
} from '../resolvers/mutations.ts';
import { type InputFields, builder, objectType, optional, required } from './builder.ts';
import { parseId, noteTargetOf } from './global-id.ts';

const Problem = builder.interfaceRef<Rejected>('Problem').implement({
  description:
    'An expected failure of a mutation, as data. Unexpected failures are GraphQL errors with `extensions.code`.',
  fields: (t) => ({
    message: t.field(required('String', 'What went wrong, for people to read.', messageOf)),
  }),
});

const ProgressNoteLocked = builder.objectRef<Rejected>('ProgressNoteLocked').implement({
  description: 'The note is finalized and can no longer be changed.',
  interfaces: [Problem],
});

const InvalidInput = builder.objectRef<Invalid>('InvalidInput').implement({
  description: 'The input is invalid. Nothing was changed.',
  interfaces: [Problem],
  fields: (t) => ({
    issues: t.exposeStringList('issues', {
      description: 'One string for each invalid field, from the Partner API or from this gateway.',
      nullable: false,
    }),
  }),
});

const NotFound = builder.objectRef<Missing>('NotFound').implement({
  description: 'The record does not exist or is not open to you: the two look the same.',
  interfaces: [Problem],
});

function messageOf(problem: Rejected): string {
  if (problem.kind === 'locked') return 'The progress note is locked.';
  if (problem.kind === 'missing') return problem.message ?? NOT_FOUND;
  return 'The input is invalid: see "issues".';
}

const outcomeTypes = {
  changed: 'ProgressNoteChange',
  assigned: 'SecondaryCliniciansAssigned',
  minted: 'ClinicianTokens',
  locked: 'ProgressNoteLocked',
  invalid: 'InvalidInput',
  missing: 'NotFound',
};

const resolveType = ({ kind }: { readonly kind: keyof typeof outcomeTypes }) => outcomeTypes[kind];

objectType(
  'ProgressNoteChange',
  'The change was accepted. A rewrite goes on in the background; a `progress_note_regenerated` event follows.',
  () => ({
    progressNote: optional(
      'ProgressNote',
      'The note as it is now, read again. While a rewrite runs it has the old text, or part of the new one.',
      noteAfterChange,
    ),
    cursor: required(
      'EventCursor',
      'Position of the event log just before the change. Subscribe with it as `after` to be sure to receive the result.',
    ),
    raw: optional('JSON', 'The Partner API’s response.'),
  }),
);

const resultOf = (name: string, description: string) =>
  builder.unionType(name, {
    description,
    types: ['ProgressNoteChange', ProgressNoteLocked, InvalidInput, NotFound],
    resolveType,
  });

const KEY = {
  description:
    'Idempotency key: 1 to 200 characters, new for each user action. For a day, the same key from the same viewer returns the first call’s result without a second edit; with other input it is InvalidInput. If the first call ended in OUTCOME_UNKNOWN, so does every later one: nothing is sent again.',
};

const noteFields = (t: InputFields) => ({
  progressNoteId: t.field(required('ID', 'Global id or UUID of the note.')),
  sessionId: t.id({
    description:
      'Session of the note. A note’s bare UUID needs `sessionId` and `clientId`, so that access can be proven; `partner` needs neither.',
  }),
  clientId: t.id({ description: 'Client of the session.' }),
});

const MagicEditInput = builder.inputType('MagicEditInput', {
  description: 'The note to rewrite, and the instructions.',
  fields: (t) => ({
    ...noteFields(t),
    userInstructions: t.field(
      required('String', 'Instructions for the rewrite: 1 to 5000 characters after trimming.'),
    ),
    idempotencyKey: t.string(KEY),
  }),
});

const RegenerateProgressNoteInput = builder.inputType('RegenerateProgressNoteInput', {
  description: 'The note to regenerate.',
  fields: (t) => ({ ...noteFields(t), idempotencyKey: t.string(KEY) }),
});

const UpdateProgressNoteInput = builder.inputType('UpdateProgressNoteInput', {
  description: 'The note to update, and the patch.',
  fields: (t) => ({
    ...noteFields(t),
    patch: t.field(
      required(
        'JSON',
        'Body of the PATCH: a JSON object, sent unchanged, since the Partner API does not document it.',
      ),
    ),
  }),
});

const targetOf = (input: typeof RegenerateProgressNoteInput.$inferInput, { ids }: Context) =>
  noteTargetOf('progressNoteId', input.progressNoteId, input, ids);

objectType(
  'SecondaryCliniciansAssigned',
  'All the clinicians are assigned, including those that already were.',
  () => ({
    client: required('Client', 'The client.'),
    raw: optional('JSON', 'The Partner API’s response.'),
  }),
);

const AssignSecondaryCliniciansInput = builder.inputType('AssignSecondaryCliniciansInput', {
  description: 'The client, and the clinicians to assign.',
  fields: (t) => ({
    clientId: t.field(required('ID', 'Global id or UUID of the client.')),
    clinicianIds: t.idList({
      required: true,
      description: 'Global ids or UUIDs of 1 to 50 clinicians. Duplicates count once.',
    }),
  }),
});

const AssignSecondaryCliniciansResult = builder.unionType('AssignSecondaryCliniciansResult', {
  description: 'The outcome of an assignment.',
  types: ['SecondaryCliniciansAssigned', InvalidInput, NotFound],
  resolveType,
});

const token = (name: string, description: string) =>
  required('String', description, ({ tokens }: Minted) => tokens[name] as string);

/** In PascalCase, as the Partner API spells the fields: its widget accepts no other spelling. */
objectType(
  'ClinicianTokens',
  'A clinician’s token pair, for the widget’s authenticate operation. Pass it on unchanged, names included.',
  (t) => ({
    raw: t.expose(
      'tokens',
      required('JSON', 'The whole object as the Partner API returned it: pass this to the widget.'),
    ),
    AccessToken: token('AccessToken', 'Access token, valid for some minutes.'),
    IdToken: optional('String', 'Reserved: do not depend on it.', ({ tokens }: Minted) =>
      textOf(tokens['IdToken']),
    ),
    RefreshToken: token('RefreshToken', 'Refresh token, for one use by one browser session.'),
    ExpiresIn: required('Int', 'Lifetime of the access token in seconds.', ({ tokens }: Minted) =>
      Math.floor(Number(tokens['ExpiresIn'])),
    ),
  }),
);

const AuthenticateClinicianInput = builder.inputType('AuthenticateClinicianInput', {
  description: 'The clinician to sign in to the widget.',
  fields: (t) => ({ clinicianId: t.field(required('ID', 'Global id or UUID of the clinician.')) }),
});

const AuthenticateClinicianResult = builder.unionType('AuthenticateClinicianResult', {
  description: 'The outcome of a sign-in.',
  types: ['ClinicianTokens', NotFound],
  resolveType,
});

builder.mutationType({
  description: 'Mutations. Every expected outcome is a type in the result.',
  fields: (t) => ({
    magicEdit: t.field({
      type: resultOf('MagicEditResult', 'The outcome of a magic edit.'),
      description:
        'Rewrites a note as `userInstructions` says. Sent once: if the Partner API gives no clear answer, the error is OUTCOME_UNKNOWN, and a `progress_note_regenerated` event shows whether the edit took effect.',
      args: { input: t.arg(required(MagicEditInput, 'The note and the instructions.')) },
      resolve: (_root, { input }, ctx) => changeNote('magicEdit', targetOf(input, ctx), input, ctx),
    }),
    regenerateProgressNote: t.field({
      type: resultOf('RegenerateProgressNoteResult', 'The outcome of a regeneration.'),
      description:
        'Generates a note again from its transcript. Sent once; OUTCOME_UNKNOWN means the same as for `magicEdit`.',
      args: { input: t.arg(required(RegenerateProgressNoteInput, 'The note.')) },
      resolve: (_root, { input }, ctx) =>
        changeNote('regenerateProgressNote', targetOf(input, ctx), input, ctx),
    }),
    updateProgressNote: t.field({
      type: resultOf('UpdateProgressNoteResult', 'The outcome of an update.'),
      description:
        'Updates a note with a patch. After OUTCOME_UNKNOWN, read the note to see whether it was changed.',
      args: { input: t.arg(required(UpdateProgressNoteInput, 'The note and the patch.')) },
      resolve: (_root, { input }, ctx) =>
        changeNote('updateProgressNote', targetOf(input, ctx), input, ctx),
    }),
    assignSecondaryClinicians: t.field({
      type: AssignSecondaryCliniciansResult,
      description:
        'Assigns secondary clinicians to a client. Those already assigned are skipped, so it is safe to repeat, also after OUTCOME_UNKNOWN.',
      args: {
        input: t.arg(required(AssignSecondaryCliniciansInput, 'The client and the clinicians.')),
      },
      resolve: (_root, { input }, ctx) => {
        const { id: clientId } = parseId('Client', 'clientId', input.clientId, ctx.ids);
        const clinicianIds = input.clinicianIds.map(
          (text) => parseId('Clinician', 'clinicianIds', text, ctx.ids).id,
        );
        return assignSecondaryClinicians(clientId, clinicianIds, ctx);
      },
    }),
    authenticateClinician: t.field({
      type: AuthenticateClinicianResult,
      description:
        'Creates one token pair for the embedded widget. Use a pair in one browser session only; never share it. Available over plain HTTP only, and once in an operation.',
      args: { input: t.arg(required(AuthenticateClinicianInput, 'The clinician.')) },
      extensions: { once: true },
      resolve: (_root, { input: { clinicianId } }, ctx) =>
        authenticateClinician(parseId('Clinician', 'clinicianId', clinicianId, ctx.ids).id, ctx),
    }),
  }),
});
