import { BadInput } from '../resolvers/bad-input.ts';
import { builder } from './builder.ts';
import { ClientStatus } from './client-status.ts';
import { type GlobalIds, idOf } from './global-id.ts';

/** Given fields are combined with AND by the Partner API; a field that is null or left out is not asked for. */
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

type Given<T> = { readonly [K in keyof T]?: string | null | undefined };

export function clientFilterOf(
  filter: typeof ClinicClientFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  if (!filter) return undefined;
  const { status, clinicianId, phoneNumber } = filter;
  // The Partner API refuses it anyway: asking would only cost a call.
  if (typeof phoneNumber === 'string' && !phoneNumber.startsWith('+')) {
    throw new BadInput('"phoneNumber" must begin with its calling code, as in +15550100.');
  }
  return given({
    ...filter,
    status: status?.toLowerCase(),
    clinicianId: clinicianId && idOf('Clinician', 'clinicianId', clinicianId, ids),
  });
}

export function clinicianFilterOf(
  filter: typeof ClinicianFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Query | undefined {
  return filter
    ? given({ ...filter, id: filter.id && idOf('Clinician', 'id', filter.id, ids) })
    : undefined;
}

function given(fields: Given<Record<string, unknown>>): Query {
  const entries = Object.entries(fields).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
