import { RAW, attributes, builder, required } from '../builder.ts';
import { list } from '../connection.ts';

builder.objectType('Organization', {
  description: 'An organization of the partner.',
  interfaces: ['Node'],
  fields: (t) => ({
    organizationId: t.expose('id', required('UUID', 'UUID of the organization.')),
    ...attributes(t, { name: 'Name of the organization.', raw: RAW }),
    clinics: t.field(list('clinicsOfOrganization', 'The clinics of the organization.')),
    programs: t.field(list('programsOfOrganization', 'The programs of the organization.')),
  }),
});

builder.objectType('Program', {
  description: 'A program of an organization, in which clients take part.',
  interfaces: ['Node'],
  fields: (t) => ({
    programId: t.expose('id', required('UUID', 'UUID of the program.')),
    ...attributes(t, { name: 'Name of the program.', raw: RAW }),
  }),
});
