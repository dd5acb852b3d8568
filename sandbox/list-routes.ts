import { assessmentRecord, assessmentsOfClinic } from './assessments.ts';
import { clientTest, clinicianIdIn, clinicianTest, isDefaultOnly, type Test } from './filters.ts';
import {
  cliniciansOfClinic,
  clinicsOfOrganization,
  ORGANIZATIONS,
  programsOfOrganization,
} from './layout.ts';
import { pageOf } from './pages.ts';
import type { ClientRecord } from './records.ts';
import type { Route } from './router.ts';
import type { World } from './world.ts';

/** The ten paginated lists. */
export function listRoutes(world: World): readonly Route[] {
  const { ids, records, roster, sessions, edits, owned } = world;

  function clientsAmong(keys: readonly number[], query: URLSearchParams) {
    const test: Test<ClientRecord> | undefined = clientTest(query);
    const found = test ? keys.filter((key) => test(world.client(key))) : keys;
    return pageOf(found, query, world.client);
  }

  return [
    {
      template: 'GET /organizations',
      handle: ({ query }) => pageOf([...Array(ORGANIZATIONS).keys()], query, records.organization),
    },
    {
      template: 'GET /organizations/:organizationId/clinics',
      handle: ({ id, query }) =>
        pageOf(clinicsOfOrganization(owned.organization(id)), query, records.clinic),
    },
    {
      template: 'GET /organizations/:organizationId/programs',
      handle: ({ id, query }) =>
        pageOf(programsOfOrganization(owned.organization(id)), query, records.program),
    },
    {
      template: 'GET /clinics/:clinicId/clinicians',
      handle({ id, query }) {
        const all = cliniciansOfClinic(owned.clinic(id)).map((key) => records.clinician(key));
        const test = clinicianTest(query);
        return pageOf(test ? all.filter(test) : all, query, (record) => record);
      },
    },
    {
      template: 'GET /clinics/:clinicId/clients',
      handle({ id, query }) {
        const clients = roster.clientsOfClinic(owned.clinic(id));
        const clinicianId = clinicianIdIn(query);
        if (clinicianId === undefined) return clientsAmong(clients, query);
        const clinician = ids.keyOf('clinician', clinicianId);
        return clientsAmong(
          clients.filter((client) => roster.clinicianOf(client) === clinician),
          query,
        );
      },
    },
    {
      template: 'GET /clinics/:clinicId/assessments',
      handle({ id, query }) {
        const all = assessmentsOfClinic(owned.clinic(id));
        const shown = isDefaultOnly(query) ? all.filter(({ isDefault }) => isDefault) : all;
        return pageOf(shown, query, assessmentRecord);
      },
    },
    {
      template: 'GET /clinicians/:clinicianId/clients',
      handle: ({ id, query }) =>
        clientsAmong(roster.clientsOfClinician(owned.clinician(id)), query),
    },
    {
      template: 'GET /clinicians/:clinicianId/magic-edit',
      handle: ({ id, query }) => pageOf(edits.of(owned.clinician(id)), query, edits.record),
    },
    {
      template: 'GET /clients/:clientId/sessions',
      handle: ({ id, query }) =>
        pageOf(sessions.sessionsOf(owned.client(id)), query, world.sessionRecord),
    },
    {
      template: 'GET /clients/:clientId/programs',
      handle: ({ id, query }) => pageOf(world.programsOf(owned.client(id)), query, records.program),
    },
  ];
}
