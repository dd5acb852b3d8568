import type { Row } from '../page.ts';
import type { CacheEntry } from '../rest/cache.ts';
import type { ListName, ListRef, RowOf } from '../rest/lists.ts';
import type { MdmRecord, NoteRecord, ScoreRecord, TranscriptRecord } from '../rest/records.ts';
import type { Uuid } from '../uuid.ts';

type ParentType = 'Organization' | 'Clinic' | 'Clinician' | 'Client';
/** Ids of a record's parents. */
export type Parents = { readonly [T in ParentType as `${Lowercase<T>}Id`]?: Uuid | undefined };

/**
 * A record that the Partner API has in lists only, known by id, perhaps with its attributes, which are looked up when a
 * field needs them. Its parents come from a list, a signed event or a signed id, and never from an argument.
 */
interface Listed<Type extends string, Attributes extends Row> extends Parents {
  readonly type: Type;
  /** For an assessment, a string such as `phq9` that is unique only within its clinic. */
  readonly id: Attributes['id'];
  readonly record?: Attributes;
  /** The viewer may read the record: it was reached from an open one, or proven. Otherwise only its id may be shown. */
  readonly open?: boolean;
  /** Reached by a link from what the viewer may see: its id and the ids of its parents may be shown. */
  readonly linked?: true;
  /** The parents that the arguments name: the only place to look in, and no proof. */
  readonly namedParents?: Parents | undefined;
  /** The name of a patient's record in the audit log, for rows of a list. */
  readonly auditName?: string | undefined;
}
type RefByList = { [N in ListName]: Listed<(typeof LISTS)[N]['row'], RowOf<N>> };
export type ListedRef = RefByList[ListName];
export type RowRef<N extends ListName> = Extract<ListedRef, RefByList[N]>;
export type ClientRef = RowRef<'clientsOfClinic'>;

/** Rows of a cached page are shared by all operations, so the ids are signed once, and the note is made once. */
export type SessionRef = RowRef<'sessionsOfClient'> & {
  globalIds?: Record<string, string>;
  note?: NoteRef;
  /** From the response cache: the note is not looked up again while it is current. */
  noteEntry?: CacheEntry<NoteRecord | null>;
};

/** A record with a route of its own: returned only to viewers who may see it, and always whole. */
type Fetched<Type extends string, Value> = Readonly<{ type: Type; record: Value; open: true }>;
export interface NoteRef extends Fetched<'ProgressNote', NoteRecord> {
  /** As the schema names them: graphql-jit reads such properties itself, which takes a tenth off a query of many notes. */
  readonly progressNoteId: Uuid | null;
  readonly isLoading: boolean;
  /** Undefined for a `partner` who named the note by its UUID alone. */
  readonly session: SessionRef | undefined;
  readonly auditName: string;
}
export type ArtifactRef = (Fetched<'Transcript', TranscriptRecord> | Fetched<'MDM', MdmRecord>) & {
  readonly session: SessionRef;
};
export interface ScoreRef extends Fetched<'AssessmentScore', ScoreRecord> {
  readonly id: Uuid;
  readonly clientId: Uuid | undefined;
}

export type NodeRef = ListedRef | NoteRef | ArtifactRef | ScoreRef;
export type NodeType = NodeRef['type'];
export type NodeOfType<T extends NodeType> = Extract<NodeRef, { readonly type: T }>;

/**
 * What the rows of each list are, and the parent in whose list a row is looked up. A client is looked up in the shorter
 * list first, a clinician's; a program never in a client's. `proves`: a page of the list proves whose the records are.
 */
export const LISTS = {
  organizations: { row: 'Organization' },
  clinicsOfOrganization: { row: 'Clinic', parent: 'Organization', proves: true },
  programsOfOrganization: { row: 'Program', parent: 'Organization' },
  programsOfClient: { row: 'Program' },
  cliniciansOfClinic: { row: 'Clinician', parent: 'Clinic', proves: true },
  clientsOfClinician: { row: 'Client', parent: 'Clinician', proves: true },
  clientsOfClinic: { row: 'Client', parent: 'Clinic', proves: true },
  sessionsOfClient: { row: 'Session', parent: 'Client' },
  assessmentsOfClinic: { row: 'Assessment', parent: 'Clinic' },
  magicEditsOfClinician: { row: 'MagicEdit', parent: 'Clinician' },
} as const satisfies Record<ListName, { row: string; parent?: ParentType; proves?: true }>;

/** The lists that records of a type are looked up in, and whose lists they are. */
const PARENT_LISTS = Map.groupBy(
  Object.entries(LISTS).flatMap(([name, list]) =>
    'parent' in list ? [{ name: name as ListName, ...list }] : [],
  ),
  ({ row }): NodeType => row,
);
export const parentListsOf = (type: NodeType) => PARENT_LISTS.get(type) ?? [];

/** The list of a parent that may hold the record. */
export const listFor = ({ type, id: row }: ListedRef, name: ListName, id: Uuid): ListRef =>
  // The only list with a filter by id: one call per clinic of any size.
  type === 'Clinician' ? { name, id, filter: { id: row } } : { name, id };

/** A read of one of these is a read of a patient's record. */
const PATIENT_TYPES: ReadonlySet<NodeType> = new Set(['Client', 'Session', 'MagicEdit'] as const);

/** The name of a patient's record in the audit log; undefined for other records. */
export const auditNameOf = (type: NodeType, id: string): string | undefined =>
  PATIENT_TYPES.has(type) ? `${type}:${id}` : undefined;

/** The records that arguments and filters name, the most specific first. */
export const NAMED_TYPES = ['Session', 'Client', 'Clinician', 'Clinic', 'Organization'] as const;

/** The type as it is spelled in grants and in the names of id fields, e.g. `client`. */
export const kindOf = <T extends string>(type: T) => type.toLowerCase() as Lowercase<T>;

/** The ids of a record's parents: its own, or else those that the arguments name. */
export const parentsOf = ({ namedParents, ...own }: ListedRef): Parents => ({
  organizationId: own.organizationId ?? namedParents?.organizationId,
  clinicId: own.clinicId ?? namedParents?.clinicId,
  clinicianId: own.clinicianId ?? namedParents?.clinicianId,
  clientId: own.clientId ?? namedParents?.clientId,
});

/** The parents that are known, and the list of each that holds the record. */
export function knownParents(ref: ListedRef) {
  const ids = parentsOf(ref);
  return parentListsOf(ref.type).flatMap(({ name, parent: type }) => {
    const id = ids[`${kindOf(type)}Id`];
    return id ? [{ parent: { type, id }, list: listFor(ref, name, id) }] : [];
  });
}
