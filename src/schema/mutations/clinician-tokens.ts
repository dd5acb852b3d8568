import {
  type TokenOutcome,
  authenticateClinician,
} from '../../resolvers/mutations/clinician-tokens.ts';
import { oneCall } from '../../resolvers/price.ts';
import { builder, required, requiredArg } from '../builder.ts';
import { idOf } from '../global-id.ts';
import { NotFound, typeOfOutcome } from './problems.ts';

type Minted = Extract<TokenOutcome, { kind: 'minted' }>;

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
    clinicianId: t.id({ required: true, description: 'Global id or UUID of the clinician.' }),
  }),
});

const AuthenticateClinicianResult = builder.unionType('AuthenticateClinicianResult', {
  description: 'The outcome of a sign-in.',
  types: [ClinicianTokens, NotFound],
  resolveType: typeOfOutcome,
});

builder.mutationFields((t) => ({
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
