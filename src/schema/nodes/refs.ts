import type { Context } from '../../context.ts';
import { type Loaded, whenLoaded } from '../../loaded.ts';
import { recordOf } from '../../resolvers/lookup/by-id.ts';
import type {
  AssessmentRef,
  ClientRef,
  ClinicRef,
  ClinicianRef,
  ListedRef,
  MagicEditRef,
  MdmRef,
  NoteRef,
  OrganizationRef,
  ProgramRef,
  ScoreRef,
  SessionRef,
  TranscriptRef,
} from '../../resolvers/refs.ts';
import { builder } from '../builder.ts';

/** Declared apart from their fields, because the types link to each other and their files must not import each other. */
export const Organization = builder.objectRef<OrganizationRef>('Organization');
export const Clinic = builder.objectRef<ClinicRef>('Clinic');
export const Program = builder.objectRef<ProgramRef>('Program');
export const Clinician = builder.objectRef<ClinicianRef>('Clinician');
export const Client = builder.objectRef<ClientRef>('Client');
export const Session = builder.objectRef<SessionRef>('Session');
export const ProgressNote = builder.objectRef<NoteRef>('ProgressNote');
export const Transcript = builder.objectRef<TranscriptRef>('Transcript');
export const Mdm = builder.objectRef<MdmRef>('MDM');
export const Assessment = builder.objectRef<AssessmentRef>('Assessment');
export const AssessmentScore = builder.objectRef<ScoreRef>('AssessmentScore');
export const MagicEdit = builder.objectRef<MagicEditRef>('MagicEdit');

/** Options that every `raw` field shares. */
export const RAW = {
  type: 'JSON',
  description: 'The whole record as the Partner API returned it.',
} as const;

type RecordOf<R extends ListedRef> = NonNullable<R['record']>;

/** Resolves an attribute of a record that may be known by id alone. In that case the record is looked up. */
export function attribute<R extends ListedRef, K extends keyof RecordOf<R>>(name: K) {
  return (ref: R, _args: unknown, ctx: Context): Loaded<RecordOf<R>[K] | null> =>
    ref.record && ref.open
      ? (ref.record as RecordOf<R>)[name]
      : whenLoaded(recordOf(ref, ctx), (record) => (record ? (record as RecordOf<R>)[name] : null));
}
