import type {
  AssessmentEvent,
  MdmEvent,
  PartnerEvent as AnyEvent,
  ProgressNoteEvent as NoteEvent,
  SessionEvent as AnySessionEvent,
  TranscriptErrorEvent,
  TranscriptReadyEvent,
} from '../events/partner-event.ts';
import {
  clientOfEvent,
  clinicOfEvent,
  clinicianOfEvent,
  cursorOfEvent,
  mdmOfEvent,
  noteOfEvent,
  organizationOfEvent,
  receivedAtOf,
  scoreOfEvent,
  sessionOfEvent,
  transcriptOfEvent,
} from '../resolvers/events.ts';
import { builder } from './builder.ts';
import { oneCall } from '../resolvers/price.ts';
import { PartnerEventType, eventTypeName, typeNameOfEvent } from './event-type.ts';
import {
  AssessmentScore,
  Client,
  Clinic,
  Clinician,
  Mdm,
  Organization,
  ProgressNote,
  Session,
  Transcript,
} from './refs.ts';

export const PartnerEvent = builder.interfaceRef<AnyEvent>('PartnerEvent').implement({
  description: 'A webhook event, after deduplication.',
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    cursor: t.field({
      type: 'EventCursor',
      description: 'Its position in the event log: hand the last one you saw to `after` to resume.',
      nullable: false,
      resolve: cursorOfEvent,
    }),
    type: t.field({
      type: PartnerEventType,
      description: 'Which of the seven kinds.',
      nullable: false,
      resolve: (event) => eventTypeName(event.type),
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'The sender’s own time stamp (`timeStamp`). Events arrive in any order.',
      nullable: false,
    }),
    receivedAt: t.field({
      type: 'DateTime',
      description: 'When this gateway accepted the event.',
      nullable: false,
      resolve: receivedAtOf,
    }),
  }),
});

export const SessionEvent = builder.interfaceRef<AnySessionEvent>('SessionEvent').implement({
  description: 'The six events that belong to one session.',
  interfaces: [PartnerEvent],
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    session: t.field({
      type: Session,
      description: 'The session it belongs to.',
      nullable: false,
      resolve: sessionOfEvent,
    }),
    sessionExternalId: t.exposeString('sessionExternalId', {
      description: 'The partner’s own identifier for the session, echoed back.',
    }),
    client: t.field({
      type: Client,
      description: 'Whose session it is.',
      nullable: false,
      resolve: clientOfEvent,
    }),
    clinician: t.field({
      type: Clinician,
      description: 'Whose client it was.',
      nullable: false,
      resolve: clinicianOfEvent,
    }),
    clinic: t.field({
      type: Clinic,
      description: 'The clinic.',
      nullable: false,
      resolve: clinicOfEvent,
    }),
    organization: t.field({
      type: Organization,
      description: 'The organization.',
      nullable: false,
      resolve: organizationOfEvent,
    }),
  }),
});

export const ProgressNoteEvent = builder.interfaceRef<NoteEvent>('ProgressNoteEvent').implement({
  description: 'The three events about a progress note.',
  interfaces: [SessionEvent, PartnerEvent],
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    progressNoteId: t.expose('progressNoteId', {
      type: 'UUID',
      description: 'Which note.',
      nullable: false,
    }),
    progressNote: t.field({
      type: ProgressNote,
      description:
        'Fetched anew, never taken from the event. Null if it is gone by then (a later regeneration may have replaced it).',
      extensions: oneCall,
      resolve: noteOfEvent,
    }),
  }),
});

const noteInterfaces = [ProgressNoteEvent, SessionEvent, PartnerEvent];

builder.objectRef<NoteEvent>('ProgressNoteGenerated').implement({
  description: 'A progress note was created.',
  interfaces: noteInterfaces,
});

builder.objectRef<NoteEvent>('ProgressNoteRegenerated').implement({
  description: 'A note was written again, after a magic edit or a regeneration.',
  interfaces: noteInterfaces,
});

export const ProgressNoteFinalized = builder
  .objectRef<NoteEvent>('ProgressNoteFinalized')
  .implement({
    description: 'A note was finalized: from now on it is locked.',
    interfaces: noteInterfaces,
  });

export const TranscriptReady = builder
  .objectRef<TranscriptReadyEvent>('TranscriptReady')
  .implement({
    description: 'The transcript of a session is there. A note usually follows.',
    interfaces: [SessionEvent, PartnerEvent],
    fields: (t) => ({
      transcript: t.field({
        type: Transcript,
        description: 'Fetched anew.',
        extensions: oneCall,
        resolve: transcriptOfEvent,
      }),
    }),
  });

export const SessionTranscriptError = builder
  .objectRef<TranscriptErrorEvent>('SessionTranscriptError')
  .implement({
    description: 'Transcription failed: there will be no transcript and no note.',
    interfaces: [SessionEvent, PartnerEvent],
    fields: (t) => ({
      error: t.exposeString('error', {
        description: 'What went wrong, in the Partner API’s words.',
        nullable: false,
      }),
    }),
  });

export const MDMElementsIdentified = builder
  .objectRef<MdmEvent>('MDMElementsIdentified')
  .implement({
    description: 'The MDM elements of a session are there. Only for a prescriber’s note types.',
    interfaces: [SessionEvent, PartnerEvent],
    fields: (t) => ({
      mdmId: t.expose('mdmId', { type: 'UUID', description: 'Their UUID.' }),
      mdm: t.field({
        type: Mdm,
        description: 'Fetched anew.',
        extensions: oneCall,
        resolve: mdmOfEvent,
      }),
    }),
  });

export const AssessmentCompleted = builder
  .objectRef<AssessmentEvent>('AssessmentCompleted')
  .implement({
    description:
      'A client completed one assessment. An incoming event with several scores becomes one of these for each new score.',
    interfaces: [PartnerEvent],
    fields: (t) => ({
      client: t.field({
        type: Client,
        description: 'Whose assessment it is.',
        nullable: false,
        resolve: clientOfEvent,
      }),
      assessmentId: t.exposeString('assessmentId', {
        description: 'Which assessment.',
        nullable: false,
      }),
      assessmentScoreId: t.expose('scoreId', {
        type: 'UUID',
        description: 'The score’s UUID.',
        nullable: false,
      }),
      assessmentScore: t.field({
        type: AssessmentScore,
        description: 'Fetched anew.',
        extensions: oneCall,
        resolve: scoreOfEvent,
      }),
    }),
  });
