import type { Uuid } from '../uuid.ts';
import {
  readAssessment,
  readClient,
  readClinic,
  readClinician,
  readMagicEdit,
  readOrganization,
  readProgram,
  readSession,
} from './records.ts';
import type {
  AssessmentRecord,
  ClientRecord,
  ClinicRecord,
  ClinicianRecord,
  MagicEditRecord,
  OrganizationRecord,
  ProgramRecord,
  ReadRow,
  SessionRecord,
} from './records.ts';
import { queryOf, route } from './routes.ts';

interface RecordByList {
  readonly organizations: OrganizationRecord;
  readonly clinicsOfOrganization: ClinicRecord;
  readonly programsOfOrganization: ProgramRecord;
  readonly cliniciansOfClinic: ClinicianRecord;
  readonly clientsOfClinic: ClientRecord;
  readonly assessmentsOfClinic: AssessmentRecord;
  readonly clientsOfClinician: ClientRecord;
  readonly magicEditsOfClinician: MagicEditRecord;
  readonly sessionsOfClient: SessionRecord;
  readonly programsOfClient: ProgramRecord;
}

export type ListName = keyof RecordByList;
export type RecordOf<N extends ListName> = RecordByList[N];

/** One list: whose it is, and what of it. */
export interface ListRef<N extends ListName = ListName> {
  readonly name: N;
  /** The parent's. Only `organizations` has none. */
  readonly id?: Uuid | undefined;
  readonly filter?: Readonly<Record<string, string | undefined>> | undefined;
}

interface List<T> {
  readonly template: string;
  readonly path: (id: Uuid | undefined) => string;
  readonly readRow: ReadRow<T>;
}

function list<T>(template: string, readRow: ReadRow<T>): List<T> {
  if (!template.includes(':')) return { template, path: () => template, readRow };
  return { ...route(template), readRow };
}

export const lists: { readonly [N in ListName]: List<RecordOf<N>> } = {
  organizations: list('/organizations', readOrganization),
  clinicsOfOrganization: list('/organizations/:organizationId/clinics', readClinic),
  programsOfOrganization: list('/organizations/:organizationId/programs', readProgram),
  cliniciansOfClinic: list('/clinics/:clinicId/clinicians', readClinician),
  clientsOfClinic: list('/clinics/:clinicId/clients', readClient),
  assessmentsOfClinic: list('/clinics/:clinicId/assessments', readAssessment),
  clientsOfClinician: list('/clinicians/:clinicianId/clients', readClient),
  magicEditsOfClinician: list('/clinicians/:clinicianId/magic-edit', readMagicEdit),
  sessionsOfClient: list('/clients/:clientId/sessions', readSession),
  programsOfClient: list('/clients/:clientId/programs', readProgram),
};

/** The path without its query: what `forget` takes. */
export function pathOf(ref: ListRef): string {
  return lists[ref.name].path(ref.id);
}

/** Names the list with its filter, all pages of it. */
export function listKeyOf(ref: ListRef): string {
  const filter = queryOf(ref.filter);
  return filter ? `${pathOf(ref)}?${filter}` : pathOf(ref);
}
