import { BadInput } from '../resolvers/bad-input.ts';
import { builder } from './builder.ts';
import { ClientStatus } from './client-status.ts';
import { type GlobalIds, idOf } from './global-id.ts';

/** The Partner API combines the given fields with AND. A field that is null or left out does not filter. */
type Query = Readonly<Record<string, string>>;

type InputFields = PothosSchemaTypes.InputFieldBuilder<
  typeof builder.$inferSchemaTypes,
  'InputObject'
>;

/** What both lists of clients can be filtered by. */
const clientFields = (t: InputFields) => ({
  externalId: t.string({ description: 'The partner’s own identifier.' }),
  firstName: t.string({ description: 'Exactly this first name.' }),
  lastName: t.string({ description: 'Exactly this last name.' }),
  name: t.string({ description: 'Free text, across first and last name.' }),
  email: t.string({ description: 'Exactly this e-mail address.' }),
  phoneNumber: t.string({ description: 'With its `+` calling code.' }),
  dateOfBirth: t.field({ type: 'Date', description: 'Born on this day.' }),
  status: t.field({ type: ClientStatus, description: 'Only those in this status.' }),
});

export const ClientFilter = builder.inputType('ClientFilter', {
  description: 'Which clients of a clinician. Given fields are combined with AND.',
  fields: clientFields,
});

export const ClinicClientFilter = builder.inputType('ClinicClientFilter', {
  description: 'Which clients of a clinic. Given fields are combined with AND.',
  fields: (t) => ({
    ...clientFields(t),
    clinicianId: t.id({ description: 'Only the clients of this clinician.' }),
  }),
});

export const ClinicianFilter = builder.inputType('ClinicianFilter', {
  description: 'Which clinicians of a clinic. Given fields are combined with AND.',
  fields: (t) => ({
    id: t.id({ description: 'This very clinician.' }),
    firstName: t.string({ description: 'Exactly this first name.' }),
    lastName: t.string({ description: 'Exactly this last name.' }),
    email: t.string({ description: 'Exactly this e-mail address.' }),
    externalId: t.string({ description: 'The partner’s own identifier.' }),
  }),
});

const MAX_CHARACTERS = 200;

export function clientFilterOf(
  filter: typeof ClinicClientFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  if (!filter) return undefined;
  const query = queryOf(filter, 'clinicianId', ids);
  // The Partner API rejects it anyway: sending it would only cost a call.
  if (query['phoneNumber']?.startsWith('+') === false) {
    throw new BadInput('"phoneNumber" must begin with its calling code, as in +15550100.');
  }
  return filter.status ? { ...query, status: filter.status.toLowerCase() } : query;
}

export function clinicianFilterOf(
  filter: typeof ClinicianFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  return filter ? queryOf(filter, 'id', ids) : undefined;
}

/** Sorted by name, so that equal filters give equal cache keys. The values are not in the messages: they are patients'. */
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
