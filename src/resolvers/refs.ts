import type { ListName, ListRef, RecordOf } from '../rest/lists.ts';
import type { MdmRecord, NoteRecord, ScoreRecord, TranscriptRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';

/** Ids of a record's parents. */
export interface Parents {
  readonly organizationId?: Uuid | undefined;
  readonly clinicId?: Uuid | undefined;
  readonly clinicianId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

/**
 * A record as the graph holds it: known by id, perhaps with its attributes. The Partner API has no get-by-id
 * for most of them, so attributes are looked up only when a field needs them.
 *
 * `open` means that the viewer may read what is inside: it was reached by walking down from what is open, or proven.
 * Otherwise (an upward link) only its id may be shown until access is proven.
 */
interface Ref<Kind extends string, List extends ListName> {
  readonly kind: Kind;
  readonly id: Uuid;
  readonly open: boolean;
  readonly record?: RecordOf<List>;
  /** Reached by going up from what the viewer may see: its id and the ids of its parents may be shown. */
  readonly above?: true;
  /** The parents that the arguments name: the only place to look in, and no proof. */
  readonly named?: Parents | undefined;
  /** The name of a patient's record in the audit log, for rows of a list. */
  readonly auditName?: string | undefined;
}

export type OrganizationRef = Ref<'organization', 'organizations'>;
export type ProgramRef = Ref<'program', 'programsOfOrganization'>;
export type ClinicRef = Ref<'clinic', 'clinicsOfOrganization'> & Pick<Parents, 'organizationId'>;
export type ClinicianRef = Ref<'clinician', 'cliniciansOfClinic'> & Pick<Parents, 'clinicId'>;
/** With the clinic or the clinician whose list it was reached by. */
export type ClientRef = Ref<'client', 'clientsOfClinic'> &
  Pick<Parents, 'clinicId' | 'clinicianId'>;

export interface SessionRef extends Ref<'session', 'sessionsOfClient'> {
  /** As a list, a signed event or a signed id says; never as an argument says. */
  readonly clientId?: Uuid | undefined;
  /** Rows of a cached page are shared by all operations, so these are made once. */
  globalIds?: Map<string, string>;
  note?: NoteRef;
}

interface OnlyInList<Kind extends string, Id extends string, List extends ListName> {
  readonly kind: Kind;
  readonly id: Id;
  readonly record?: RecordOf<List>;
  readonly auditName?: string | undefined;
}

/** Its id is a string such as `phq9`, unique within its clinic only. */
export type AssessmentRef = OnlyInList<'assessment', string, 'assessmentsOfClinic'> & {
  readonly clinicId: Uuid;
};
export type MagicEditRef = OnlyInList<'magic-edit', Uuid, 'magicEditsOfClinician'> & {
  readonly clinicianId: Uuid;
};

/** The four below are returned only to viewers who may see them, so they are always open and always whole. */
export interface NoteRef {
  readonly kind: 'note';
  readonly record: NoteRecord;
  /** Undefined for a `partner` who named the note by its UUID alone. */
  readonly session: SessionRef | undefined;
  readonly auditName: string;
}

export interface TranscriptRef {
  readonly kind: 'transcript';
  readonly session: SessionRef;
  readonly record: TranscriptRecord;
}

export interface MdmRef {
  readonly kind: 'mdm';
  readonly session: SessionRef;
  readonly record: MdmRecord;
}

export interface ScoreRef {
  readonly kind: 'score';
  readonly id: Uuid;
  readonly record: ScoreRecord;
  readonly clientId: Uuid | undefined;
}

/** Records that the API has in lists only: they are looked up there, not fetched. */
export type ListedRef =
  | OrganizationRef
  | ClinicRef
  | ProgramRef
  | ClinicianRef
  | ClientRef
  | SessionRef;

export type NodeRef =
  | ListedRef
  | AssessmentRef
  | MagicEditRef
  | NoteRef
  | TranscriptRef
  | MdmRef
  | ScoreRef;

/** What the rows of each list are. */
interface NodeByList {
  readonly organizations: OrganizationRef;
  readonly clinicsOfOrganization: ClinicRef;
  readonly programsOfOrganization: ProgramRef;
  readonly programsOfClient: ProgramRef;
  readonly cliniciansOfClinic: ClinicianRef;
  readonly clientsOfClinic: ClientRef;
  readonly clientsOfClinician: ClientRef;
  readonly sessionsOfClient: SessionRef;
  readonly assessmentsOfClinic: AssessmentRef;
  readonly magicEditsOfClinician: MagicEditRef;
}
export type NodeOf<N extends ListName> = NodeByList[N];

export const KINDS: { readonly [N in ListName]: NodeOf<N>['kind'] } = {
  organizations: 'organization',
  clinicsOfOrganization: 'clinic',
  programsOfOrganization: 'program',
  programsOfClient: 'program',
  cliniciansOfClinic: 'clinician',
  clientsOfClinic: 'client',
  clientsOfClinician: 'client',
  sessionsOfClient: 'session',
  assessmentsOfClinic: 'assessment',
  magicEditsOfClinician: 'magic-edit',
};

/** Which parent of its rows a list is about. Programs are looked up by organization alone, so they carry none. */
export function parentIn({ name, id }: ListRef) {
  if (name === 'sessionsOfClient') return { clientId: id };
  if (name === 'clinicsOfOrganization') return { organizationId: id };
  if (name.endsWith('OfClinic')) return { clinicId: id };
  return name.endsWith('OfClinician') ? { clinicianId: id } : {};
}
