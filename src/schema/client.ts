import { whenLoaded } from '../loaded.ts';
import { clinicOfClient, programsOfClient, sessionsOfClient } from '../resolvers/client.ts';
import { recordOf } from '../resolvers/lookup/by-id.ts';
import { attribute } from './attribute.ts';
import { ClientStatus, clientStatusOf } from './client-status.ts';
import { ProgramConnection, SessionConnection, windowArgs } from './connection.ts';
import { listPrice } from '../resolvers/price.ts';
import { Node } from './node.ts';
import { Client, Clinic } from './refs.ts';

Client.implement({
  description: 'A client: the patient. Their record is what every rule of access here protects.',
  interfaces: [Node],
  fields: (t) => ({
    clientId: t.expose('id', { type: 'UUID', description: 'Their UUID.', nullable: false }),
    firstName: t.string({ description: 'Their first name.', resolve: attribute('firstName') }),
    lastName: t.string({ description: 'Their last name.', resolve: attribute('lastName') }),
    externalId: t.string({
      description: 'The partner’s own identifier for them.',
      resolve: attribute('externalId'),
    }),
    email: t.string({ description: 'Their e-mail address.', resolve: attribute('email') }),
    phoneNumber: t.string({
      description: 'With its `+` calling code.',
      resolve: attribute('phoneNumber'),
    }),
    dateOfBirth: t.field({
      type: 'Date',
      description: 'As the Partner API wrote it, in no time zone.',
      resolve: attribute('dateOfBirth'),
    }),
    status: t.field({
      type: ClientStatus,
      description: 'Where they stand.',
      resolve: (client, _args, ctx) =>
        whenLoaded(recordOf(client, ctx), (record) => clientStatusOf(record?.status ?? null)),
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
    clinic: t.field({
      type: Clinic,
      description: 'The clinic they are a client of.',
      resolve: clinicOfClient,
    }),
    sessions: t.field({
      type: SessionConnection,
      description: 'Their sessions.',
      args: windowArgs,
      extensions: listPrice,
      resolve: sessionsOfClient,
    }),
    programs: t.field({
      type: ProgramConnection,
      description: 'The programs they take part in.',
      args: windowArgs,
      extensions: listPrice,
      resolve: programsOfClient,
    }),
  }),
});
