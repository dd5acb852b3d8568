import { type TokenOutcome, authenticateClinician } from '../resolvers/clinician-tokens.ts';
import { auditedWrite } from '../resolvers/audited-write.ts';
import { oneCall } from '../resolvers/price.ts';
import { builder } from './builder.ts';
import { idOf } from './global-id.ts';
import { NotFound, typeOfOutcome } from './problems.ts';

type Minted = Extract<TokenOutcome, { kind: 'minted' }>;

/** The Partner API spells these in PascalCase, and its widget takes them in no other way. */
const ClinicianTokens = builder.objectRef<Minted>('ClinicianTokens').implement({
  description:
    'The clinician’s token pair, for the widget’s authenticate operation. Hand it over unchanged, names included.',
  fields: (t) => ({
    raw: t.expose('tokens', {
      type: 'JSON',
      description: 'The whole object as it was minted: what the widget wants.',
      nullable: false,
    }),
    AccessToken: t.string({
      description: 'Valid for minutes.',
      nullable: false,
      resolve: ({ tokens }) => tokens['AccessToken'] as string,
    }),
    IdToken: t.string({
      description: 'Reserved: do not depend on it.',
      resolve: ({ tokens }) => tokens['IdToken'] as string | undefined,
    }),
    RefreshToken: t.string({
      description: 'For one use, by one browser session.',
      nullable: false,
      resolve: ({ tokens }) => tokens['RefreshToken'] as string,
    }),
    ExpiresIn: t.int({
      description: 'Seconds that the access token is valid for.',
      nullable: false,
      resolve: ({ tokens }) => Math.floor(Number(tokens['ExpiresIn'])),
    }),
  }),
});

const AuthenticateClinicianInput = builder.inputType('AuthenticateClinicianInput', {
  description: 'Whom the widget will act for.',
  fields: (t) => ({ clinicianId: t.id({ required: true, description: 'The clinician.' }) }),
});

const AuthenticateClinicianResult = builder.unionType('AuthenticateClinicianResult', {
  description: 'What became of a sign-in.',
  types: [ClinicianTokens, NotFound],
  resolveType: typeOfOutcome,
});

builder.mutationFields((t) => ({
  authenticateClinician: t.field({
    type: AuthenticateClinicianResult,
    description:
      'Mints one token pair for the embedded widget. One pair per browser session; never share it. Over plain HTTP only, once an operation.',
    args: {
      input: t.arg({ type: AuthenticateClinicianInput, required: true, description: 'For whom.' }),
    },
    extensions: { ...oneCall, once: true },
    resolve: (_root, { input }, ctx) => {
      const id = idOf('Clinician', 'clinicianId', input.clinicianId, ctx.ids);
      return auditedWrite('authenticateClinician', `Clinician:${id}`, ctx, () =>
        authenticateClinician(id, ctx),
      );
    },
  }),
}));
