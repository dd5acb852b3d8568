import type {
  AssessmentRef,
  ClientRef,
  ClinicRef,
  ClinicianRef,
  MagicEditRef,
  MdmRef,
  NoteRef,
  OrganizationRef,
  ProgramRef,
  ScoreRef,
  SessionRef,
  TranscriptRef,
} from '../resolvers/refs.ts';
import { builder } from './builder.ts';

/** The nodes' names, apart from their fields: each links to the others, and a file a noun would be a ring. */
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
