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

interface Row {
  readonly id: Uuid;
  readonly raw: JsonObject;
}

interface Named extends Row {
  readonly name: string | null;
}

export type OrganizationRecord = Named;
export type ClinicRecord = Named;
export type ProgramRecord = Named;
export type MagicEditRecord = Row;

export interface ClinicianRecord extends Row {
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly email: string | null;
  readonly externalId: string | null;
}

export interface ClientRecord extends ClinicianRecord {
  readonly phoneNumber: string | null;
  /** YYYY-MM-DD. */
  readonly dateOfBirth: string | null;
  /** As the API spells it, values that we do not know included. */
  readonly status: string | null;
}

export interface SessionRecord extends Row {
  readonly sessionExternalId: string | null;
  readonly fileUrl: string | null;
}

export interface AssessmentRecord {
  /** A string such as `phq9`: assessments alone are not named by a UUID. */
  readonly id: string;
  readonly name: string | null;
  readonly raw: JsonObject;
}

/** Reads a list's row; undefined if it can't be told which record it is. */
export type ReadRow<T> = (raw: JsonObject) => T | undefined;

// The API shows `id` for clients only; other records may well use `<noun>Id`, as its events do.
const idOf = (raw: JsonObject, idName: string): Uuid | undefined =>
  toUuid(raw['id']) ?? toUuid(raw[idName]);

const named =
  (idName: string): ReadRow<Named> =>
  (raw) => {
    const id = idOf(raw, idName);
    return id && { id, name: textOf(raw['name']), raw };
  };

export const readOrganization: ReadRow<OrganizationRecord> = named('organizationId');
export const readClinic: ReadRow<ClinicRecord> = named('clinicId');
export const readProgram: ReadRow<ProgramRecord> = named('programId');

export const readMagicEdit: ReadRow<MagicEditRecord> = (raw) => {
  const id = idOf(raw, 'magicEditId');
  return id && { id, raw };
};

export const readClinician: ReadRow<ClinicianRecord> = (raw) => {
  const id = idOf(raw, 'clinicianId');
  return id && { id, ...personOf(raw), raw };
};

export const readClient: ReadRow<ClientRecord> = (raw) => {
  const id = idOf(raw, 'clientId');
  return (
    id && {
      id,
      ...personOf(raw),
      phoneNumber: textOf(raw['phoneNumber']),
      dateOfBirth: calendarDateOf(raw['dateOfBirth']),
      status: textOf(raw['status']),
      raw,
    }
  );
};

export const readSession: ReadRow<SessionRecord> = (raw) => {
  const id = idOf(raw, 'sessionId');
  return (
    id && {
      id,
      sessionExternalId: textOf(raw['sessionExternalId']),
      fileUrl: textOf(raw['fileUrl']),
      raw,
    }
  );
};

export const readAssessment: ReadRow<AssessmentRecord> = (raw) => {
  const id = textOf(raw['id']) || textOf(raw['assessmentId']);
  return id ? { id, name: textOf(raw['name']), raw } : undefined;
};

function personOf(raw: JsonObject) {
  return {
    firstName: textOf(raw['firstName']),
    lastName: textOf(raw['lastName']),
    email: textOf(raw['email']),
    externalId: textOf(raw['externalId']),
  };
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
