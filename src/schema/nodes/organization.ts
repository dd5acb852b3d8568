import { RAW, nodeType, required } from '../builder.ts';
import { listField } from '../connection.ts';

nodeType('Organization', 'An organization of the partner.', (t) => ({
  organizationId: t.expose('id', required('UUID', 'UUID of the organization.')),
  name: 'Name of the organization.',
  raw: RAW,
  clinics: t.field(listField('clinicsOfOrganization', 'The clinics of the organization.')),
  programs: t.field(listField('programsOfOrganization', 'The programs of the organization.')),
}));

nodeType('Program', 'A program of an organization, in which clients take part.', (t) => ({
  programId: t.expose('id', required('UUID', 'UUID of the program.')),
  name: 'Name of the program.',
  raw: RAW,
}));
