import { listOf } from '../../resolvers/list.ts';
import { organizationOfClinic } from '../../resolvers/parents.ts';
import { listPrice } from '../../resolvers/price.ts';
import {
  AssessmentConnection,
  ClientConnection,
  ClinicianConnection,
  windowArgs,
} from '../connection.ts';
import {
  ClinicClientFilter,
  ClinicianFilter,
  clientFilterOf,
  clinicianFilterOf,
} from '../filters.ts';
import { required } from '../builder.ts';
import { Node } from './node.ts';
import { Clinic, Organization, RAW, attribute } from './refs.ts';

const clinicians = listOf('cliniciansOfClinic');
const clients = listOf('clientsOfClinic');
const assessments = listOf('assessmentsOfClinic');

Clinic.implement({
  description: 'A clinic of an organization.',
  interfaces: [Node],
  fields: (t) => ({
    clinicId: t.expose('id', required('UUID', 'UUID of the clinic.')),
    name: t.string({ description: 'Name of the clinic.', resolve: attribute('name') }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
    organization: t.field({
      type: Organization,
      description: 'The organization that the clinic belongs to.',
      resolve: organizationOfClinic,
    }),
    clinicians: t.field({
      type: ClinicianConnection,
      description: 'The clinicians of the clinic, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClinicianFilter, description: 'Only clinicians that match.' }),
      },
      extensions: listPrice,
      resolve: (clinic, args, ctx) =>
        clinicians(clinic, { ...args, filter: clinicianFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    clients: t.field({
      type: ClientConnection,
      description: 'The clients of the clinic, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClinicClientFilter, description: 'Only clients that match.' }),
      },
      extensions: listPrice,
      resolve: (clinic, args, ctx) =>
        clients(clinic, { ...args, filter: clientFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    assessments: t.field({
      type: AssessmentConnection,
      description: 'The assessments that the clinic uses.',
      args: {
        ...windowArgs,
        defaultOnly: t.arg.boolean({
          description: 'Only assessments that clients get by default.',
        }),
      },
      extensions: listPrice,
      resolve: (clinic, { defaultOnly, ...args }, ctx) => {
        const filter = { defaultOnly: String(defaultOnly) };
        return assessments(
          clinic,
          typeof defaultOnly === 'boolean' ? { ...args, filter } : args,
          ctx,
        );
      },
    }),
  }),
});
