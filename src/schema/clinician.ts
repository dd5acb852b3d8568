import {
  clientsOfClinician,
  clinicOfClinician,
  magicEditsOfClinician,
} from '../resolvers/clinician.ts';
import { attribute } from './attribute.ts';
import { ClientConnection, MagicEditConnection, windowArgs } from './connection.ts';
import { listPrice } from '../resolvers/price.ts';
import { ClientFilter, clientFilterOf } from './filters.ts';
import { Node } from './node.ts';
import { Clinic, Clinician } from './refs.ts';

Clinician.implement({
  description: 'A clinician of a clinic.',
  interfaces: [Node],
  fields: (t) => ({
    clinicianId: t.expose('id', { type: 'UUID', description: 'Their UUID.', nullable: false }),
    firstName: t.string({ description: 'Their first name.', resolve: attribute('firstName') }),
    lastName: t.string({ description: 'Their last name.', resolve: attribute('lastName') }),
    email: t.string({ description: 'Their e-mail address.', resolve: attribute('email') }),
    externalId: t.string({
      description: 'The partner’s own identifier for them.',
      resolve: attribute('externalId'),
    }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
    clinic: t.field({
      type: Clinic,
      description: 'The clinic they work in.',
      resolve: clinicOfClinician,
    }),
    clients: t.field({
      type: ClientConnection,
      description: 'The clients of this clinician, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClientFilter, description: 'Only those that match.' }),
      },
      extensions: listPrice,
      resolve: (clinician, args, ctx) =>
        clientsOfClinician(
          clinician,
          { ...args, filter: clientFilterOf(args.filter, ctx.ids) },
          ctx,
        ),
    }),
    magicEdits: t.field({
      type: MagicEditConnection,
      description: 'The magic edits that this clinician asked for.',
      args: windowArgs,
      extensions: listPrice,
      resolve: magicEditsOfClinician,
    }),
  }),
});
