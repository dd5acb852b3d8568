import { hash, nth } from './rng.ts';

/**
 * How the made-up partner is laid out. Keys are consecutive within a kind, so that who lies under whom is
 * arithmetic and nothing has to be made before it is asked for.
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

export const organizationOfClinic = (clinic: number): number => nth(CLINICS, clinic).organization;
export const clinicsOfOrganization = (organization: number): number[] =>
  [...CLINICS.keys()].filter((clinic) => organizationOfClinic(clinic) === organization);
export const programsOfOrganization = (organization: number): number[] =>
  span(nth(PROGRAM_STARTS, organization), nth(PROGRAMS, organization));
export const cliniciansOfClinic = (clinic: number): number[] =>
  span(nth(CLINICIAN_STARTS, clinic), nth(CLINICS, clinic).clinicians);
export const seededClientsOfClinic = (clinic: number): number[] =>
  span(nth(CLIENT_STARTS, clinic), nth(CLINICS, clinic).clients);
export const clinicOfClinician = (clinician: number): number =>
  CLINICIAN_STARTS.findLastIndex((start) => start <= clinician);

export function seededClinicianOfClient(client: number): number {
  const clinic = CLIENT_STARTS.findLastIndex((start) => start <= client);
  // The last clinician of the first clinic is new there and has nobody yet.
  const sharing = nth(CLINICS, clinic).clinicians - (clinic === 0 ? 1 : 0);
  return nth(CLINICIAN_STARTS, clinic) + ((client - nth(CLIENT_STARTS, clinic)) % sharing);
}

/** The first 25 fill a page of ten sessions each; the next five stand at the edges of a page. */
const EDGES = [0, 9, 10, 11, 25] as const;
export const FULL_CLIENTS = 25;

export function seededSessionsOfClient(seed: number, client: number): number {
  const spread = hash(seed, client, 0x5e55);
  if (client < FULL_CLIENTS) return 10 + (spread % 5);
  return EDGES[client - FULL_CLIENTS] ?? spread % 15;
}

/** Every third clinician prescribes: only their sessions have medical decision making. */
export const isPrescriber = (clinician: number): boolean => clinician % 3 === 1;

function starts(counts: readonly number[]): number[] {
  let next = 0;
  return counts.map((count) => (next += count) - count);
}

const span = (start: number, count: number): number[] =>
  Array.from({ length: count }, (_, offset) => start + offset);
