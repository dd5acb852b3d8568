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
 * for most of them, so attributes are looked up only when a field asks.
 *
 * `open` means that the viewer may read what is inside: it was reached by walking down from what is open, or proven.
 * Otherwise (an upward link) only its id may be shown until access is proven.
 */
interface Ref<Kind extends string> {
  readonly kind: Kind;
  readonly id: Uuid;
  readonly open: boolean;
  /** Reached by going up from what the viewer may see: its id may be shown, and the ids of what it lies under. */
  readonly above?: true;
  /** The parent that the arguments name: the only place to look in, and no proof. */
  readonly named?: NamedParent | undefined;
}

export interface NamedParent {
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
  readonly organizationId?: Uuid | undefined;
}

export interface ProgramRef extends Ref<'program'> {
  readonly record?: ProgramRecord;
}

export interface ClinicianRef extends Ref<'clinician'> {
  readonly record?: ClinicianRecord;
  readonly clinicId?: Uuid | undefined;
}

export interface ClientRef extends Ref<'client'> {
  readonly record?: ClientRecord;
  /** The list it was reached by. */
  readonly clinicId?: Uuid | undefined;
  readonly clinicianId?: Uuid | undefined;
}

export interface SessionRef extends Ref<'session'> {
  readonly record?: SessionRecord;
  /** As a list, a signed event or a signed id has shown it; never as an argument says. */
  readonly clientId?: Uuid | undefined;
  /** The global ids of the session and its artifacts, signed once: rows of a cached page are shared. */
  globalIds?: Map<string, string>;
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
  /** Undefined for a `partner` who named the note by its UUID alone. */
  readonly session: SessionRef | undefined;
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

/** Those of which the API has lists only: looked up in lists, not fetched. */
export type ListedRef =
  | OrganizationRef
  | ClinicRef
  | ProgramRef
  | ClinicianRef
  | ClientRef
  | SessionRef;

export type ListedKind = ListedRef['kind'];

export type NodeRef =
  | ListedRef
  | AssessmentRef
  | MagicEditRef
  | NoteRef
  | TranscriptRef
  | MdmRef
  | ScoreRef;
