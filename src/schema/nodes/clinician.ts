import { magicEditRaw } from '../../resolvers/assessment.ts';
import { listOf } from '../../resolvers/list.ts';
import { clinicOfClinician } from '../../resolvers/parents.ts';
import { listPrice } from '../../resolvers/price.ts';
import { ClientConnection, MagicEditConnection, list, windowArgs } from '../connection.ts';
import { ClientFilter, clientFilterOf } from '../filters.ts';
import { required } from '../builder.ts';
import { Node } from './node.ts';
import { Clinic, Clinician, MagicEdit, RAW, attribute } from './refs.ts';

const clients = listOf('clientsOfClinician');

Clinician.implement({
  description: 'A clinician of a clinic.',
  interfaces: [Node],
  fields: (t) => ({
    clinicianId: t.expose('id', required('UUID', 'UUID of the clinician.')),
    firstName: t.string({ description: 'First name.', resolve: attribute('firstName') }),
    lastName: t.string({ description: 'Last name.', resolve: attribute('lastName') }),
    email: t.string({ description: 'E-mail address.', resolve: attribute('email') }),
    externalId: t.string({
      description: 'The partner’s own identifier for the clinician.',
      resolve: attribute('externalId'),
    }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
    clinic: t.field({
      type: Clinic,
      description: 'The clinic that the clinician works in.',
      resolve: clinicOfClinician,
    }),
    clients: t.field({
      type: ClientConnection,
      description: 'The clients of the clinician, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClientFilter, description: 'Only clients that match.' }),
      },
      extensions: listPrice,
      resolve: (clinician, args, ctx) =>
        clients(clinician, { ...args, filter: clientFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    magicEdits: t.field(
      list(
        'magicEditsOfClinician',
        MagicEditConnection,
        'The magic edits that the clinician requested.',
      ),
    ),
  }),
});

MagicEdit.implement({
  description: 'A magic edit: a rewrite of a note that a clinician requested.',
  interfaces: [Node],
  fields: (t) => ({
    magicEditId: t.expose('id', required('UUID', 'UUID of the magic edit.')),
    raw: t.field({ ...RAW, resolve: magicEditRaw }),
  }),
});
