import { ClinicConnection, ProgramConnection, list } from '../connection.ts';
import { required } from '../builder.ts';
import { Node } from './node.ts';
import { Organization, Program, RAW, attribute } from './refs.ts';

Organization.implement({
  description: 'An organization of the partner.',
  interfaces: [Node],
  fields: (t) => ({
    organizationId: t.expose('id', required('UUID', 'UUID of the organization.')),
    name: t.string({ description: 'Name of the organization.', resolve: attribute('name') }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
    clinics: t.field(
      list('clinicsOfOrganization', ClinicConnection, 'The clinics of the organization.'),
    ),
    programs: t.field(
      list('programsOfOrganization', ProgramConnection, 'The programs of the organization.'),
    ),
  }),
});

Program.implement({
  description: 'A program of an organization, in which clients take part.',
  interfaces: [Node],
  fields: (t) => ({
    programId: t.expose('id', required('UUID', 'UUID of the program.')),
    name: t.string({ description: 'Name of the program.', resolve: attribute('name') }),
    raw: t.field({ ...RAW, resolve: attribute('raw') }),
  }),
});
