import { whenLoaded } from '../../loaded.ts';
import { recordOf } from '../../resolvers/lookup/by-id.ts';
import { clinicOfClient } from '../../resolvers/parents.ts';
import { builder, required } from '../builder.ts';
import { ProgramConnection, SessionConnection, list } from '../connection.ts';
import { Node } from './node.ts';
import { Client, Clinic, RAW, attribute } from './refs.ts';

const statuses = {
  AWAITING_INVITE: { description: 'Not invited yet.' },
  ACTIVE: { description: 'In treatment.' },
  ARCHIVED: { description: 'Archived.' },
  DECLINED: { description: 'Declined the invitation.' },
  INVITE_SENT: { description: 'Invited, without an answer yet.' },
  PENDING: { description: 'Pending.' },
  UNKNOWN: { description: 'Unknown, or a status that this gateway does not know yet.' },
} as const;

export const ClientStatus = builder.enumType('ClientStatus', {
  description: 'Status of a client.',
  values: statuses,
});

/** The Partner API spells a status in lower case. A status that it adds later is UNKNOWN here. */
function clientStatusOf(status: string | null): keyof typeof statuses | null {
  if (status === null) return null;
  const name = status.toUpperCase();
  return Object.hasOwn(statuses, name) ? (name as keyof typeof statuses) : 'UNKNOWN';
}

Client.implement({
  description: 'A client: the patient.',
  interfaces: [Node],
  fields: (t) => ({
    clientId: t.expose('id', required('UUID', 'UUID of the client.')),
    firstName: t.string({ description: 'First name.', resolve: attribute('firstName') }),
    lastName: t.string({ description: 'Last name.', resolve: attribute('lastName') }),
    externalId: t.string({
      description: 'The partner’s own identifier for the client.',
      resolve: attribute('externalId'),
    }),
    email: t.string({ description: 'E-mail address.', resolve: attribute('email') }),
    phoneNumber: t.string({
      description: 'Phone number with its `+` calling code.',
      resolve: attribute('phoneNumber'),
    }),
    dateOfBirth: t.field({
      type: 'Date',
      description: 'Date of birth as the Partner API wrote it, in no time zone.',
      resolve: attribute('dateOfBirth'),
    }),
    status: t.field({
      type: ClientStatus,
      description: 'Status of the client.',
      resolve: (client, _args, ctx) =>
        whenLoaded(recordOf(client, ctx), (record) => clientStatusOf(record?.status ?? null)),
    }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
    clinic: t.field({
      type: Clinic,
      description: 'The clinic that the client belongs to.',
      resolve: clinicOfClient,
    }),
    sessions: t.field(list('sessionsOfClient', SessionConnection, 'The sessions of the client.')),
    programs: t.field(
      list('programsOfClient', ProgramConnection, 'The programs that the client takes part in.'),
    ),
  }),
});
