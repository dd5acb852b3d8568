import { clinicOfClinician, organizationOfClinic } from '../../resolvers/links.ts';
import { listOf } from '../../resolvers/list.ts';
import { RAW, attributes, builder, optional, required } from '../builder.ts';
import { list, windowArgs } from '../connection.ts';
import {
  ClientFilter,
  ClinicClientFilter,
  ClinicianFilter,
  clientFilterOf,
  clinicianFilterOf,
} from '../filters.ts';

const clinicians = listOf('cliniciansOfClinic');
const clientsOfClinic = listOf('clientsOfClinic');
const clientsOfClinician = listOf('clientsOfClinician');
const assessments = listOf('assessmentsOfClinic');

builder.objectType('Clinic', {
  description: 'A clinic of an organization.',
  interfaces: ['Node'],
  fields: (t) => ({
    clinicId: t.expose('id', required('UUID', 'UUID of the clinic.')),
    ...attributes(t, { name: 'Name of the clinic.', raw: RAW }),
    organization: t.field({
      ...optional('Organization', 'The organization that the clinic belongs to.'),
      resolve: organizationOfClinic,
    }),
    clinicians: t.field({
      ...list('cliniciansOfClinic', 'The clinicians of the clinic, filtered by the Partner API.'),
      args: {
        ...windowArgs,
        filter: t.arg(optional(ClinicianFilter, 'Only clinicians that match.')),
      },
      resolve: (clinic, args, ctx) =>
        clinicians(clinic, { ...args, filter: clinicianFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    clients: t.field({
      ...list('clientsOfClinic', 'The clients of the clinic, filtered by the Partner API.'),
      args: {
        ...windowArgs,
        filter: t.arg(optional(ClinicClientFilter, 'Only clients that match.')),
      },
      resolve: (clinic, args, ctx) =>
        clientsOfClinic(clinic, { ...args, filter: clientFilterOf(args.filter, ctx.ids) }, ctx),
    }),
    assessments: t.field({
      ...list('assessmentsOfClinic', 'The assessments that the clinic uses.'),
      args: {
        ...windowArgs,
        defaultOnly: t.arg(optional('Boolean', 'Only assessments that clients get by default.')),
      },
      resolve: (clinic, { defaultOnly, ...args }, ctx) => {
        const filter = typeof defaultOnly === 'boolean' ? { defaultOnly: `${defaultOnly}` } : {};
        return assessments(clinic, { ...args, filter }, ctx);
      },
    }),
  }),
});

builder.objectType('Clinician', {
  description: 'A clinician of a clinic.',
  interfaces: ['Node'],
  fields: (t) => ({
    clinicianId: t.expose('id', required('UUID', 'UUID of the clinician.')),
    ...attributes(t, {
      firstName: 'First name.',
      lastName: 'Last name.',
      email: 'E-mail address.',
      externalId: 'The partner’s own identifier for the clinician.',
      raw: RAW,
    }),
    clinic: t.field({
      ...optional('Clinic', 'The clinic that the clinician works in.'),
      resolve: clinicOfClinician,
    }),
    clients: t.field({
      ...list('clientsOfClinician', 'The clients of the clinician, filtered by the Partner API.'),
      args: { ...windowArgs, filter: t.arg(optional(ClientFilter, 'Only clients that match.')) },
      resolve: (clinician, args, ctx) =>
        clientsOfClinician(
          clinician,
          { ...args, filter: clientFilterOf(args.filter, ctx.ids) },
          ctx,
        ),
    }),
    magicEdits: t.field(
      list('magicEditsOfClinician', 'The magic edits that the clinician requested.'),
    ),
  }),
});

builder.objectType('MagicEdit', {
  description: 'A magic edit: a rewrite of a note that a clinician requested.',
  interfaces: ['Node'],
  fields: (t) => ({
    magicEditId: t.expose('id', required('UUID', 'UUID of the magic edit.')),
    ...attributes(t, { raw: RAW }),
  }),
});
