import {
  type Assigned,
  type Minted,
  assignSecondaryClinicians,
  authenticateClinician,
} from '../../resolvers/mutations/clinicians.ts';
import { builder, optional, required, requiredArg } from '../builder.ts';
import { oneCall } from '../estimate-calls.ts';
import { idOf } from '../global-id.ts';
import { InvalidInput, NotFound, resolveType } from './problems.ts';

const SecondaryCliniciansAssigned = builder
  .objectRef<Assigned>('SecondaryCliniciansAssigned')
  .implement({
    description: 'All the clinicians are assigned, including those that already were.',
    fields: (t) => ({
      client: t.expose('client', required('Client', 'The client.')),
      raw: t.expose('raw', optional('JSON', 'The Partner API’s response.')),
    }),
  });

const AssignSecondaryCliniciansInput = builder.inputType('AssignSecondaryCliniciansInput', {
  description: 'The client, and the clinicians to assign.',
  fields: (t) => ({
    clientId: t.field(requiredArg('ID', 'Global id or UUID of the client.')),
    clinicianIds: t.idList({
      required: true,
      description: 'Global ids or UUIDs of 1 to 50 clinicians. Duplicates count once.',
    }),
  }),
});

const AssignSecondaryCliniciansResult = builder.unionType('AssignSecondaryCliniciansResult', {
  description: 'The outcome of an assignment.',
  types: [SecondaryCliniciansAssigned, InvalidInput, NotFound],
  resolveType,
});

/** In PascalCase, as the Partner API spells the fields: its widget accepts no other spelling. */
const ClinicianTokens = builder.objectRef<Minted>('ClinicianTokens').implement({
  description:
    'A clinician’s token pair, for the widget’s authenticate operation. Pass it on unchanged, names included.',
  fields: (t) => ({
    raw: t.expose(
      'tokens',
      required('JSON', 'The whole object as the Partner API returned it: pass this to the widget.'),
    ),
    AccessToken: t.field({
      ...required('String', 'Access token, valid for some minutes.'),
      resolve: ({ tokens }) => tokens['AccessToken'] as string,
    }),
    IdToken: t.string({
      description: 'Reserved: do not depend on it.',
      resolve: ({ tokens }) => tokens['IdToken'] as string | undefined,
    }),
    RefreshToken: t.field({
      ...required('String', 'Refresh token, for one use by one browser session.'),
      resolve: ({ tokens }) => tokens['RefreshToken'] as string,
    }),
    ExpiresIn: t.field({
      ...required('Int', 'Lifetime of the access token in seconds.'),
      resolve: ({ tokens }) => Math.floor(Number(tokens['ExpiresIn'])),
    }),
  }),
});

const AuthenticateClinicianInput = builder.inputType('AuthenticateClinicianInput', {
  description: 'The clinician to sign in to the widget.',
  fields: (t) => ({
    clinicianId: t.field(requiredArg('ID', 'Global id or UUID of the clinician.')),
  }),
});

const AuthenticateClinicianResult = builder.unionType('AuthenticateClinicianResult', {
  description: 'The outcome of a sign-in.',
  types: [ClinicianTokens, NotFound],
  resolveType,
});

builder.mutationFields((t) => ({
  assignSecondaryClinicians: t.field({
    type: AssignSecondaryCliniciansResult,
    description:
      'Assigns secondary clinicians to a client. Those already assigned are skipped, so it is safe to repeat, also after OUTCOME_UNKNOWN.',
    args: {
      input: t.arg(requiredArg(AssignSecondaryCliniciansInput, 'The client and the clinicians.')),
    },
    extensions: oneCall,
    resolve: (_root, { input }, ctx) => {
      const clientId = idOf('Client', 'clientId', input.clientId, ctx.ids);
      const clinicianIds = input.clinicianIds.map((id) =>
        idOf('Clinician', 'clinicianIds', id, ctx.ids),
      );
      return assignSecondaryClinicians(clientId, clinicianIds, ctx);
    },
  }),
  authenticateClinician: t.field({
    type: AuthenticateClinicianResult,
    description:
      'Creates one token pair for the embedded widget. Use a pair in one browser session only; never share it. Available over plain HTTP only, and once in an operation.',
    args: { input: t.arg(requiredArg(AuthenticateClinicianInput, 'The clinician.')) },
    extensions: { ...oneCall, once: true },
    resolve: (_root, { input }, ctx) =>
      authenticateClinician(idOf('Clinician', 'clinicianId', input.clinicianId, ctx.ids), ctx),
  }),
}));
