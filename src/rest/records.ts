import { toUuid } from '../uuid.ts';
import type { Uuid } from '../uuid.ts';
import { textOf } from './json.ts';
import type { JsonObject } from './json.ts';

export type { JsonObject } from './json.ts';
export type {
  MdmRecord,
  NoteRecord,
  NotReady,
  ProblemAddressed,
  ScoreAnswer,
  ScoreRecord,
  TranscriptItem,
  TranscriptRecord,
} from './artifacts.ts';

/** Reads a list's row; undefined if it does not say which record it is. */
export type ReadRow<T> = (raw: JsonObject) => T | undefined;

type RecordOf<Read extends (raw: JsonObject) => unknown> = Exclude<ReturnType<Read>, undefined>;

// The API shows `id` for clients only; other records may well use `<noun>Id`, as its events do.
const idOf = (raw: JsonObject, idName: string): Uuid | undefined =>
  toUuid(raw['id']) ?? toUuid(raw[idName]);

const named = (idName: string) => (raw: JsonObject) => {
  const id = idOf(raw, idName);
  return id && { id, name: textOf(raw['name']), raw };
};

export const readOrganization = named('organizationId');
export type OrganizationRecord = RecordOf<typeof readOrganization>;

export const readClinic = named('clinicId');
export type ClinicRecord = RecordOf<typeof readClinic>;

export const readProgram = named('programId');
export type ProgramRecord = RecordOf<typeof readProgram>;

export type MagicEditRecord = RecordOf<typeof readMagicEdit>;
export function readMagicEdit(raw: JsonObject) {
  const id = idOf(raw, 'magicEditId');
  return id && { id, raw };
}

const personOf = (raw: JsonObject) => ({
  firstName: textOf(raw['firstName']),
  lastName: textOf(raw['lastName']),
  email: textOf(raw['email']),
  externalId: textOf(raw['externalId']),
});

export type ClinicianRecord = RecordOf<typeof readClinician>;
export function readClinician(raw: JsonObject) {
  const id = idOf(raw, 'clinicianId');
  return id && { id, ...personOf(raw), raw };
}

export type ClientRecord = RecordOf<typeof readClient>;
export function readClient(raw: JsonObject) {
  const id = idOf(raw, 'clientId');
  if (!id) return undefined;
  return {
    id,
    ...personOf(raw),
    phoneNumber: textOf(raw['phoneNumber']),
    dateOfBirth: calendarDateOf(raw['dateOfBirth']),
    /** As the API spells it, unknown values included. */
    status: textOf(raw['status']),
    raw,
  };
}

export type SessionRecord = RecordOf<typeof readSession>;
export function readSession(raw: JsonObject) {
  const id = idOf(raw, 'sessionId');
  if (!id) return undefined;
  const sessionExternalId = textOf(raw['sessionExternalId']);
  return { id, sessionExternalId, fileUrl: textOf(raw['fileUrl']), raw };
}

/** Its id is a string such as `phq9`: assessments alone are not named by a UUID. */
export type AssessmentRecord = RecordOf<typeof readAssessment>;
export function readAssessment(raw: JsonObject) {
  const id = textOf(raw['id']) || textOf(raw['assessmentId']);
  return id ? { id, name: textOf(raw['name']), raw } : undefined;
}

/** The date as written. Going through a Date would shift it by the machine's time zone. */
export function calendarDateOf(value: unknown): string | null {
  const date = typeof value === 'string' ? /^\d{4}-\d{2}-\d{2}(?=$|T)/.exec(value)?.[0] : undefined;
  if (!date) return null;
  const midnight = new Date(`${date}T00:00:00Z`);
  // A day that is not in the calendar either fails to parse or rolls over into the next month.
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
  return exists ? date : null;
}
