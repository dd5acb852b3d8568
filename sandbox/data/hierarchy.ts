import { hash, itemAt } from './random.ts';

/**
 * The made-up partner: which clinics, clinicians and clients belong together. Keys are consecutive within a kind, so a
 * record's parent is arithmetic and no record has to exist before it is requested.
 */
const CLINICS = [
  { organization: 0, clinicians: 14, clients: 420 },
  { organization: 0, clinicians: 12, clients: 360 },
  { organization: 0, clinicians: 10, clients: 320 },
  { organization: 1, clinicians: 8, clients: 280 },
  { organization: 1, clinicians: 6, clients: 220 },
] as const;

/** Two pages for the first organization, one for the second. */
const PROGRAMS = [12, 7] as const;

export const ORGANIZATIONS = PROGRAMS.length;
export const CLINIC_COUNT = CLINICS.length;
export const CLINICIANS = CLINICS.reduce((sum, clinic) => sum + clinic.clinicians, 0);
export const CLIENTS = CLINICS.reduce((sum, clinic) => sum + clinic.clients, 0);

/** Session `n` of client `c` has the key `c * 64 + n`. */
export const SESSIONS_PER_CLIENT_LIMIT = 64;

const CLINICIAN_STARTS = starts(CLINICS.map((clinic) => clinic.clinicians));
const CLIENT_STARTS = starts(CLINICS.map((clinic) => clinic.clients));
const PROGRAM_STARTS = starts(PROGRAMS);

export const organizationOfClinic = (clinic: number): number =>
  itemAt(CLINICS, clinic).organization;
export const clinicsOfOrganization = (organization: number): number[] =>
  [...CLINICS.keys()].filter((clinic) => organizationOfClinic(clinic) === organization);
export const programsOfOrganization = (organization: number): number[] =>
  range(itemAt(PROGRAM_STARTS, organization), itemAt(PROGRAMS, organization));
export const cliniciansOfClinic = (clinic: number): number[] =>
  range(itemAt(CLINICIAN_STARTS, clinic), itemAt(CLINICS, clinic).clinicians);
export const seededClientsOfClinic = (clinic: number): number[] =>
  range(itemAt(CLIENT_STARTS, clinic), itemAt(CLINICS, clinic).clients);
export const clinicOfClinician = (clinician: number): number =>
  CLINICIAN_STARTS.findLastIndex((start) => start <= clinician);

export function seededClinicianOfClient(client: number): number {
  const clinic = CLIENT_STARTS.findLastIndex((start) => start <= client);
  // The last clinician of the first clinic has no clients.
  const withClients = itemAt(CLINICS, clinic).clinicians - (clinic === 0 ? 1 : 0);
  return (
    itemAt(CLINICIAN_STARTS, clinic) + ((client - itemAt(CLIENT_STARTS, clinic)) % withClients)
  );
}

/** The first 25 clients have ten sessions or more; the next five have counts around the page size. */
const PAGE_EDGE_COUNTS = [0, 9, 10, 11, 25] as const;
export const CLIENTS_WITH_FULL_PAGE = 25;

export function seededSessionsOfClient(seed: number, client: number): number {
  const random = hash(seed, client, 0x5e55);
  if (client < CLIENTS_WITH_FULL_PAGE) return 10 + (random % 5);
  return PAGE_EDGE_COUNTS[client - CLIENTS_WITH_FULL_PAGE] ?? random % 15;
}

/** Every third clinician prescribes: only their sessions have medical decision making. */
export const isPrescriber = (clinician: number): boolean => clinician % 3 === 1;

function starts(counts: readonly number[]): number[] {
  let next = 0;
  return counts.map((count) => (next += count) - count);
}

const range = (start: number, count: number): number[] =>
  Array.from({ length: count }, (_, offset) => start + offset);
