import {
  cliniciansOfClinic,
  clinicsOfOrganization,
  ORGANIZATIONS,
  programsOfOrganization,
} from '../data/hierarchy.ts';
import type { PartnerData } from '../data/partner-data.ts';
import { assessmentRecord, assessmentsOfClinic } from '../data/scores.ts';
import { invalid } from '../http/errors.ts';
import type { Routes } from '../http/router.ts';
import { clientFilter, clinicianFilter, clinicianIdIn, isDefaultOnly } from './filters.ts';

/** The paginated lists. */
export function listRoutes(data: PartnerData): Routes {
  const { ids, records, roster, sessions, edits, find } = data;

  function clientsPage(clients: readonly number[], query: URLSearchParams) {
    const matches = clientFilter(query);
    const found = matches ? clients.filter((key) => matches(data.clientRecord(key))) : clients;
    return pageOf(found, query, data.clientRecord);
  }

  return {
    'GET /organizations': ({ query }) =>
      pageOf([...Array(ORGANIZATIONS).keys()], query, records.organization),
    'GET /organizations/:organizationId/clinics': ({ id, query }) =>
      pageOf(clinicsOfOrganization(find.organization(id)), query, records.clinic),
    'GET /organizations/:organizationId/programs': ({ id, query }) =>
      pageOf(programsOfOrganization(find.organization(id)), query, records.program),
    'GET /clinics/:clinicId/clinicians'({ id, query }) {
      const all = cliniciansOfClinic(find.clinic(id)).map((key) => records.clinician(key));
      return pageOf(all.filter(clinicianFilter(query) ?? Boolean), query, (record) => record);
    },
    'GET /clinics/:clinicId/clients'({ id, query }) {
      const clients = roster.clientsOfClinic(find.clinic(id));
      const clinicianId = clinicianIdIn(query);
      if (clinicianId === undefined) return clientsPage(clients, query);
      const clinician = ids.keyOf('clinician', clinicianId);
      const theirs = clients.filter((client) => roster.clinicianOf(client) === clinician);
      return clientsPage(theirs, query);
    },
    'GET /clinics/:clinicId/assessments'({ id, query }) {
      const all = assessmentsOfClinic(find.clinic(id));
      const shown = isDefaultOnly(query) ? all.filter(({ isDefault }) => isDefault) : all;
      return pageOf(shown, query, assessmentRecord);
    },
    'GET /clinicians/:clinicianId/clients': ({ id, query }) =>
      clientsPage(roster.clientsOfClinician(find.clinician(id)), query),
    'GET /clinicians/:clinicianId/magic-edit': ({ id, query }) =>
      pageOf(edits.ofClinician(find.clinician(id)), query, (edit) => edit),
    'GET /clients/:clientId/sessions': ({ id, query }) =>
      pageOf(sessions.ofClient(find.client(id)), query, (key) => sessions.get(key)?.record),
    'GET /clients/:clientId/programs': ({ id, query }) =>
      pageOf(data.programsOfClient(find.client(id)), query, records.program),
  };
}

const PAGE_SIZE = 10;

/** One page of a list. Only the rows on that page are rendered. */
function pageOf<T>(keys: readonly T[], query: URLSearchParams, render: (key: T) => unknown) {
  const currentPage = pageIn(query);
  const start = (currentPage - 1) * PAGE_SIZE;
  return {
    data: keys.slice(start, start + PAGE_SIZE).map((key) => render(key)),
    meta: {
      totalItems: keys.length,
      totalPages: Math.ceil(keys.length / PAGE_SIZE),
      itemsPerPage: PAGE_SIZE,
      currentPage,
    },
  };
}

function pageIn(query: URLSearchParams): number {
  const text = query.has('page') ? query.getAll('page').join() : '1';
  if (!/^-?\d{1,9}$/.test(text)) throw invalid('page must be an integer number');
  const page = Number(text);
  if (page < 1) throw invalid('page must not be less than 1');
  return page;
}
