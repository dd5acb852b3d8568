import type {
  AssessmentRecord,
  ClientRecord,
  ClinicRecord,
  ClinicianRecord,
  MagicEditRecord,
  MdmRecord,
  NoteRecord,
  OrganizationRecord,
  ProgramRecord,
  ScoreRecord,
  SessionRecord,
  TranscriptRecord,
} from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';

/**
 * A record as the graph holds it: known by id, perhaps with its attributes. The Partner API has no get-by-id
 * for most of them, so attributes are looked for only when a field asks.
 *
 * `open` means that the viewer may look inside: it was reached by walking down from what is open, or proven.
 * Otherwise (an upward link) only its id may be shown until access is proven.
 */
interface Ref<Kind extends string> {
  readonly kind: Kind;
  readonly id: Uuid;
  readonly open: boolean;
  /** Reached by going up from what the viewer may see: its id may be shown, and what it lies under in turn. */
  readonly above?: true;
  /** Where the caller says that it stands: a place to look first, and no proof. */
  readonly hint?: Hint;
}

export interface Hint {
  readonly organizationId?: Uuid | undefined;
  readonly clinicId?: Uuid | undefined;
  readonly clinicianId?: Uuid | undefined;
  readonly clientId?: Uuid | undefined;
}

export interface OrganizationRef extends Ref<'organization'> {
  readonly record?: OrganizationRecord;
}

export interface ClinicRef extends Ref<'clinic'> {
  readonly record?: ClinicRecord;
  readonly organizationId?: Uuid;
}

export interface ProgramRef extends Ref<'program'> {
  readonly record?: ProgramRecord;
}

export interface ClinicianRef extends Ref<'clinician'> {
  readonly record?: ClinicianRecord;
  readonly clinicId?: Uuid;
}

export interface ClientRef extends Ref<'client'> {
  readonly record?: ClientRecord;
  readonly clinicId?: Uuid;
  readonly clinicianId?: Uuid;
}

export interface SessionRef extends Ref<'session'> {
  readonly record?: SessionRecord;
  readonly clientId?: Uuid;
}

export interface AssessmentRef {
  readonly kind: 'assessment';
  /** A string such as `phq9`: unique within its clinic only. */
  readonly id: string;
  readonly clinicId: Uuid;
  readonly record?: AssessmentRecord;
}

export interface MagicEditRef {
  readonly kind: 'magic-edit';
  readonly id: Uuid;
  readonly clinicianId: Uuid;
  readonly record?: MagicEditRecord;
}

/** The four below are handed out only to those who may see them, so they are always open and always whole. */
export interface NoteRef {
  readonly kind: 'note';
  readonly record: NoteRecord;
  readonly sessionId: Uuid | undefined;
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

/** Those of which the API has lists only: looked for, not fetched. */
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
