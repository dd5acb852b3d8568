import { hash, itemAt } from './random.ts';

/**
 * The made-up partner: which clinics, clinicians and clients belong together. Keys are consecutive within a kind, so a
 * record's parent is computed from its key, and a record need not exist before it is requested.
 */
const CLINICS = [
  { organization: 0, clinicians: 14, clients: 420 },
  { organization: 0, clinicians: 12, clients: 360 },
  { organization: 0, clinicians: 10, clients: 320 },
  { organization: 1, clinicians: 8, clients: 280 },
  { organization: 1, clinicians: 6, clients: 220 },
] as const;
/** Two pages for the first organization, one for the second. */
const PROGRAMS = ranges([12, 7]);
const CLINICIANS_OF_CLINIC = ranges(CLINICS.map((clinic) => clinic.clinicians));
const CLIENTS_OF_CLINIC = ranges(CLINICS.map((clinic) => clinic.clients));

export const ORGANIZATIONS = PROGRAMS.length;
export const CLINIC_COUNT = CLINICS.length;
export const CLINICIANS = CLINICIANS_OF_CLINIC.flat().length;
export const CLIENTS = CLIENTS_OF_CLINIC.flat().length;
/** Session `n` of client `c` has the key `c * 64 + n`. */
export const SESSIONS_PER_CLIENT_LIMIT = 64;

export const organizationOfClinic = (clinic: number): number =>
  itemAt(CLINICS, clinic).organization;
export const clinicsOfOrganization = (organization: number): number[] =>
  [...CLINICS.keys()].filter((clinic) => organizationOfClinic(clinic) === organization);
export const programsOfOrganization = (organization: number) => itemAt(PROGRAMS, organization);
export const cliniciansOfClinic = (clinic: number) => itemAt(CLINICIANS_OF_CLINIC, clinic);
export const seededClientsOfClinic = (clinic: number) => itemAt(CLIENTS_OF_CLINIC, clinic);
export const clinicOfClinician = (clinician: number): number =>
  CLINICIANS_OF_CLINIC.findLastIndex(([first = 0]) => first <= clinician);

export function seededClinicianOfClient(client: number): number {
  const clinic = CLIENTS_OF_CLINIC.findLastIndex(([first = 0]) => first <= client);
  const clinicians = cliniciansOfClinic(clinic);
  // The last clinician of the first clinic has no clients.
  const count = clinicians.length - (clinic === 0 ? 1 : 0);
  return itemAt(clinicians, (client - itemAt(seededClientsOfClinic(clinic), 0)) % count);
}

/** The first 25 clients have ten sessions or more; the next five have counts around the page size. */
export const CLIENTS_WITH_FULL_PAGE = 25;
const PAGE_EDGE_COUNTS = [0, 9, 10, 11, 25] as const;

export function seededSessionsOfClient(seed: number, client: number): number {
  const random = hash(seed, client, 0x5e55);
  if (client < CLIENTS_WITH_FULL_PAGE) return 10 + (random % 5);
  return PAGE_EDGE_COUNTS[client - CLIENTS_WITH_FULL_PAGE] ?? random % 15;
}

/** Every third clinician prescribes: only their sessions have medical decision making. */
export const isPrescriber = (clinician: number): boolean => clinician % 3 === 1;

/** Consecutive keys: `ranges([2, 3])` is `[[0, 1], [2, 3, 4]]`. */
function ranges(counts: readonly number[]): readonly (readonly number[])[] {
  let next = 0;
  return counts.map((count) => Array.from({ length: count }, () => next++));
}
