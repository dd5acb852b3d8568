import { BadInput } from '../resolvers/errors.ts';
import { builder, optional } from './builder.ts';
import { type GlobalIds, idOf } from './global-id.ts';
import { ClientStatus } from './nodes/client.ts';

/** Query parameters of a list. The Partner API combines them with AND. */
type Query = Readonly<Record<string, string>>;

type InputFields = PothosSchemaTypes.InputFieldBuilder<
  typeof builder.$inferSchemaTypes,
  'InputObject'
>;

/** The filters that both lists of clients have. */
const clientFields = (t: InputFields) => ({
  externalId: t.string({ description: 'The partner’s own identifier for the client.' }),
  firstName: t.string({ description: 'First name, exact.' }),
  lastName: t.string({ description: 'Last name, exact.' }),
  name: t.string({ description: 'Free text, across first and last name.' }),
  email: t.string({ description: 'E-mail address, exact.' }),
  phoneNumber: t.string({ description: 'Phone number with its `+` calling code.' }),
  dateOfBirth: t.field(optional('Date', 'Date of birth.')),
  status: t.field(optional(ClientStatus, 'Status of the client.')),
});

export const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Conditions for the clients of a clinician. All given fields must match.',
  fields: clientFields,
});

export const ClinicClientFilter = builder.inputType('ClinicClientFilter', {
  description: 'Conditions for the clients of a clinic. All given fields must match.',
  fields: (t) => ({
    ...clientFields(t),
    clinicianId: t.id({ description: 'Global id or UUID of the client’s clinician.' }),
  }),
});

export const ClinicianFilter = builder.inputType('ClinicianFilter', {
  description: 'Conditions for the clinicians of a clinic. All given fields must match.',
  fields: (t) => ({
    id: t.id({ description: 'Global id or UUID of the clinician.' }),
    firstName: t.string({ description: 'First name, exact.' }),
    lastName: t.string({ description: 'Last name, exact.' }),
    email: t.string({ description: 'E-mail address, exact.' }),
    externalId: t.string({ description: 'The partner’s own identifier for the clinician.' }),
  }),
});

const MAX_CHARACTERS = 200;

export function clientFilterOf(
  filter: typeof ClinicClientFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  if (!filter) return undefined;
  const query = queryOf(filter, 'clinicianId', ids);
  // The Partner API rejects such a number, so the call is saved.
  if (query['phoneNumber']?.startsWith('+') === false) {
    throw new BadInput('"phoneNumber" must begin with its calling code, as in +15550100.');
  }
  return query;
}

export function clinicianFilterOf(
  filter: typeof ClinicianFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  return filter ? queryOf(filter, 'id', ids) : undefined;
}

/** Sorted by name, so that equal filters have equal cache keys. Messages leave the values out: they are patient data. */
function queryOf(filter: object, clinicianField: string, ids: GlobalIds): Query {
  const given = Object.entries(filter)
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const issues = given
    .filter(([, text]) => text.trim() === '' || text.length > MAX_CHARACTERS)
    .map(
      ([name, { length }]) =>
        `"${name}" must have 1 to ${MAX_CHARACTERS} characters and not be blank, but got ${length}.`,
    );
  if (issues.length > 0) throw new BadInput(...issues);
  return Object.fromEntries(
    given.map(([name, text]) => [
      name,
      name === clinicianField ? idOf('Clinician', name, text, ids) : text,
    ]),
  );
}
