import { z } from 'zod';

import { PAGE_SIZE, firstOffsetOf, lastPageOf, type Page, type Row } from '../page.ts';
import { toUuid, type Uuid } from '../uuid.ts';
import { CHANGING_TTL_MS, anotherRecord, endpoint, isOther, type Endpoint } from './endpoints.ts';
import { isObject, textOf, type JsonObject } from '../json.ts';

/** Undefined for a row without a usable id. The API shows only clients' `id`; others may use `<noun>Id`, as events do. */
const rowReader =
  <T>(idName: string, read: (id: Uuid, raw: JsonObject) => T) =>
  (raw: JsonObject): T | undefined => {
    const id = toUuid(raw['id']) ?? toUuid(raw[idName]);
    return id && read(id, raw);
  };

const named = (id: Uuid, raw: JsonObject) => ({ id, name: textOf(raw['name']), raw });

const personOf = (raw: JsonObject) => ({
  firstName: textOf(raw['firstName']),
  lastName: textOf(raw['lastName']),
  email: textOf(raw['email']),
  externalId: textOf(raw['externalId']),
});

export const readOrganization = rowReader('organizationId', named);
const readClinic = rowReader('clinicId', named);
const readProgram = rowReader('programId', named);
const readMagicEdit = rowReader('magicEditId', (id, raw) => ({ id, raw }));
const readClinician = rowReader('clinicianId', (id, raw) => ({ id, ...personOf(raw), raw }));

export const readClient = rowReader('clientId', (id, raw) => ({
  id,
  ...personOf(raw),
  phoneNumber: textOf(raw['phoneNumber']),
  dateOfBirth: calendarDateOf(raw['dateOfBirth']),
  /** As the API spells it, unknown values included. */
  status: textOf(raw['status']),
  raw,
}));

export function readSession(raw: JsonObject) {
  const id = toUuid(raw['sessionId']) ?? toUuid(raw['id']);
  if (!id) return undefined;
  const sessionExternalId = textOf(raw['sessionExternalId']);
  return { id, sessionExternalId, fileUrl: httpUrlOf(raw['fileUrl']), raw };
}

/** Null for anything but an absolute http URL: a frontend may make a link of it. */
function httpUrlOf(value: unknown): string | null {
  const url = textOf(value);
  return url !== null && /^https?:/i.test(url) && URL.canParse(url) ? url : null;
}

/** Its id is a string such as `phq9`: assessments alone are not named by a UUID. */
export function readAssessment(raw: JsonObject) {
  const id = textOf(raw['assessmentId']) || textOf(raw['id']);
  return id ? { id, name: textOf(raw['name']), raw } : undefined;
}

const calendarDate = z.iso.date();

/** The date as written, if it is in the calendar. Going through a Date would shift it by the machine's time zone. */
export const calendarDateOf = (value: unknown): string | null =>
  calendarDate.safeParse(textOf(value)?.split('T', 1)[0]).data ?? null;

/**
 * `parentNames`: the fields with the parent's id, for rows whose parent never changes. With another id in one of them,
 * the answer is rejected. Clients and clinicians may be in the lists of several parents, so their rows are not checked.
 */
function list<T>(
  template: string,
  readRow: (raw: JsonObject) => T | undefined,
  ...parentNames: readonly string[]
): Endpoint<Page<T>> {
  function read(body: unknown, parentId: Uuid | undefined, page: number) {
    const { data, meta }: JsonObject = isObject(body) ? body : {};
    if (!isObject(meta) || !Array.isArray(data)) return undefined;
    const { totalItems: total, currentPage } = meta;
    if (typeof total !== 'number' || !Number.isInteger(total)) return undefined;
    // `totalCount` is a GraphQL Int, of 31 bits.
    if (total < 0 || total >= 2 ** 31) return undefined;

    // An API that answers a page past the end with its last one would repeat rows. An empty list may have page 0 of 0.
    if (firstOffsetOf(page) >= total) return { rows: [], total, page };

    if (typeof currentPage === 'number' && currentPage !== page) return undefined;
    const isLast = page === lastPageOf(total);
    if (data.length > PAGE_SIZE || (data.length < PAGE_SIZE && !isLast)) return undefined;
    for (const name of parentNames)
      for (const row of data)
        if (isObject(row) && isOther(row[name], parentId)) return anotherRecord;
    const rows = data.map((row: unknown) => (isObject(row) ? readRow(row) : undefined));
    return { rows, total, page };
  }
  return endpoint<Page<T>>('GET', template, 3, read, () => CHANGING_TTL_MS);
}

export const listEndpoints = {
  organizations: list('/organizations', readOrganization),
  clinicsOfOrganization: list(
    '/organizations/:organizationId/clinics',
    readClinic,
    'organizationId',
  ),
  programsOfOrganization: list(
    '/organizations/:organizationId/programs',
    readProgram,
    'organizationId',
  ),
  cliniciansOfClinic: list('/clinics/:clinicId/clinicians', readClinician),
  clientsOfClinic: list('/clinics/:clinicId/clients', readClient),
  assessmentsOfClinic: list('/clinics/:clinicId/assessments', readAssessment, 'clinicId'),
  clientsOfClinician: list('/clinicians/:clinicianId/clients', readClient),
  magicEditsOfClinician: list('/clinicians/:clinicianId/magic-edit', readMagicEdit, 'clinicianId'),
  sessionsOfClient: list('/clients/:clientId/sessions', readSession, 'clientId', 'patientId'),
  programsOfClient: list('/clients/:clientId/programs', readProgram),
};

export type ListName = keyof typeof listEndpoints;
export type RowOf<N extends ListName> =
  (typeof listEndpoints)[N] extends Endpoint<Page<infer Record extends Row>> ? Record : never;

export interface ListRef<N extends ListName = ListName> {
  readonly name: N;
  /** The parent's id. Only `organizations` has none. */
  readonly id?: Uuid | undefined;
  readonly filter?: Readonly<Record<string, string>> | undefined;
}

/**
 * The path that invalidates all pages and filters of a list. The magic edits of all clinicians have one path: a change
 * of a note does not say whose they are. A clinic's clients, filtered by clinician, have the path of that clinician's
 * clients: the assignment of a clinician does not say in which clinic.
 */
export function cachePathOf(ref: ListRef): string {
  const { template, path } = listEndpoints[ref.name];
  const clinicianId = toUuid(ref.filter?.['clinicianId']);
  if (clinicianId) return listEndpoints.clientsOfClinician.path(clinicianId);
  return ref.name === 'magicEditsOfClinician' ? template : path(ref.id);
}

/** A key for the list with its filter, for all its pages. The order of the filter's fields does not matter. */
export function listKeyOf({ name, id, filter }: ListRef): string {
  const path = listEndpoints[name].path(id);
  if (!filter) return path;
  const pairs: string[] = [];
  // Half of a surrogate pair can't be encoded; a `+` must be, or it would be read as a space.
  for (const [field, value] of Object.entries(filter))
    pairs.push(`${field}=${encodeURIComponent(value.toWellFormed())}`);
  return `${path}?${pairs.toSorted().join('&')}`;
}

/** The request for a page. */
export function pageTarget(ref: ListRef, page: number, since = 0) {
  const listKey = listKeyOf(ref);
  return {
    endpoint: listEndpoints[ref.name] as Endpoint<Page<Row>>,
    id: ref.id,
    key: `${listKey}${ref.filter ? '&' : '?'}page=${page}`,
    path: cachePathOf(ref),
    page,
    listKey,
    since,
  };
}
