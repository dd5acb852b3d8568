import {
  assessmentsOfClinic,
  clientsOfClinic,
  cliniciansOfClinic,
  organizationOfClinic,
} from '../resolvers/clinic.ts';
import { attribute } from './attribute.ts';
import {
  AssessmentConnection,
  ClientConnection,
  ClinicianConnection,
  windowArgs,
} from './connection.ts';
import { listPrice } from '../resolvers/price.ts';
import {
  ClinicClientFilter,
  ClinicianFilter,
  clientFilterOf,
  clinicianFilterOf,
} from './filters.ts';
import { Node } from './node.ts';
import { Clinic, Organization } from './refs.ts';

Clinic.implement({
  description: 'A clinic of an organization.',
  interfaces: [Node],
  fields: (t) => ({
    clinicId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    name: t.string({ description: 'Its name.', resolve: attribute('name') }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
    organization: t.field({
      type: Organization,
      description: 'The organization it belongs to.',
      resolve: organizationOfClinic,
    }),
    clinicians: t.field({
      type: ClinicianConnection,
      description: 'The clinicians of this clinic, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClinicianFilter, description: 'Only those that match.' }),
      },
      extensions: listPrice,
      resolve: (clinic, args, ctx) =>
        cliniciansOfClinic(
          clinic,
          { ...args, filter: clinicianFilterOf(args.filter, ctx.ids) },
          ctx,
        ),
    }),
    clients: t.field({
      type: ClientConnection,
      description: 'The clients of this clinic, filtered by the Partner API.',
      args: {
        ...windowArgs,
        filter: t.arg({ type: ClinicClientFilter, description: 'Only those that match.' }),
      },
      extensions: listPrice,
      resolve: (clinic, args, ctx) =>
        clientsOfClinic(clinic, { ...args, filter: clientFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    assessments: t.field({
      type: AssessmentConnection,
      description: 'The assessments that this clinic uses.',
      args: {
        ...windowArgs,
        defaultOnly: t.arg.boolean({ description: 'Only those that are given by default.' }),
      },
      extensions: listPrice,
      resolve: assessmentsOfClinic,
    }),
  }),
});
