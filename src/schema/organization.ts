import { clinicsOfOrganization, programsOfOrganization } from '../resolvers/organization.ts';
import { attribute } from './attribute.ts';
import { ClinicConnection, ProgramConnection, windowArgs } from './connection.ts';
import { listPrice } from '../resolvers/price.ts';
import { Node } from './node.ts';
import { Organization } from './refs.ts';

Organization.implement({
  description: 'An organization of the partner.',
  interfaces: [Node],
  fields: (t) => ({
    organizationId: t.expose('id', { type: 'UUID', description: 'Its UUID.', nullable: false }),
    name: t.string({ description: 'Its name.', resolve: attribute('name') }),
    raw: t.field({
      type: 'JSON',
      description: 'The record as the Partner API gave it.',
      resolve: attribute('raw'),
    }),
    clinics: t.field({
      type: ClinicConnection,
      description: 'Its clinics.',
      args: windowArgs,
      extensions: listPrice,
      resolve: clinicsOfOrganization,
    }),
    programs: t.field({
      type: ProgramConnection,
      description: 'Its programs.',
      args: windowArgs,
      extensions: listPrice,
      resolve: programsOfOrganization,
    }),
  }),
});
