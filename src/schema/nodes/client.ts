import type { Context } from '../../context.ts';
import { clinicOfClient } from '../../resolvers/records.ts';
import { RAW, builder, enumValues, nodeType, optional, required } from '../builder.ts';
import { listField } from '../connection.ts';

const statuses = {
  awaiting_invite: 'Not invited yet.',
  active: 'In treatment.',
  archived: 'Archived.',
  declined: 'Declined the invitation.',
  invite_sent: 'Invited, without an answer yet.',
  pending: 'Pending.',
  unknown: 'Unknown, or a status that is new in the Partner API.',
} as const;

export const ClientStatus = builder.enumType('ClientStatus', {
  description: 'Status of a client.',
  values: enumValues(statuses),
});

/** A status that the Partner API adds later is UNKNOWN here, and counted. */
function knownStatus(text: string | null, ctx: Context): string | null {
  const status = text?.toLowerCase() ?? null;
  if (status === null || Object.hasOwn(statuses, status)) return status;
  ctx.onUnknownStatus();
  return 'unknown';
}

nodeType('Client', 'A client: the patient.', (t) => ({
  clientId: t.expose('id', required('UUID', 'UUID of the client.')),
  firstName: 'First name.',
  lastName: 'Last name.',
  externalId: 'The partner’s own identifier for the client.',
  email: 'E-mail address.',
  phoneNumber: 'Phone number with its `+` calling code.',
  dateOfBirth: optional('Date', 'Date of birth as the Partner API wrote it, in no time zone.'),
  status: { ...optional(ClientStatus, 'Status of the client.'), convert: knownStatus },
  raw: RAW,
  clinic: t.field({
    ...optional('Clinic', 'The clinic that the client belongs to.'),
    resolve: clinicOfClient,
  }),
  sessions: t.field(listField('sessionsOfClient', 'The sessions of the client.')),
  programs: t.field(listField('programsOfClient', 'The programs that the client takes part in.')),
}));
