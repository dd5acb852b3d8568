import {
  type AssessmentEvent,
  EVENT_TYPES,
  type EventType,
  type MdmEvent,
  type PartnerEvent as AnyEvent,
  type ProgressNoteEvent as NoteEvent,
  type SessionEvent as AnySessionEvent,
  type TranscriptErrorEvent,
  type TranscriptReadyEvent,
} from '../events/partner-event.ts';
import {
  clientOfEvent,
  clinicOfEvent,
  clinicianOfEvent,
  mdmOfEvent,
  noteOfEvent,
  organizationOfEvent,
  scoreOfEvent,
  sessionOfEvent,
  transcriptOfEvent,
} from '../resolvers/events/event-links.ts';
import { oneCall } from '../resolvers/price.ts';
import { builder, required } from './builder.ts';
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
} from './nodes/refs.ts';

type EventTypeName = Uppercase<EventType>;

const typeNames: Record<EventType, string> = {
  progress_note_generated: 'ProgressNoteGenerated',
  progress_note_regenerated: 'ProgressNoteRegenerated',
  progress_note_finalized: 'ProgressNoteFinalized',
  transcript_ready: 'TranscriptReady',
  session_transcript_error: 'SessionTranscriptError',
  mdm_elements_identified: 'MDMElementsIdentified',
  assessment_completed: 'AssessmentCompleted',
};

const typeNameOfEvent = ({ type }: AnyEvent): string => typeNames[type];

export const PartnerEventType = builder.enumType('PartnerEventType', {
  description: 'The seven types of events, as the Partner API names them.',
  values: {
    PROGRESS_NOTE_GENERATED: { description: 'A note was generated.' },
    PROGRESS_NOTE_REGENERATED: { description: 'A note was generated again.' },
    PROGRESS_NOTE_FINALIZED: { description: 'A note was finalized and is locked.' },
    TRANSCRIPT_READY: { description: 'A transcript is ready.' },
    SESSION_TRANSCRIPT_ERROR: { description: 'Transcription failed.' },
    MDM_ELEMENTS_IDENTIFIED: { description: 'MDM elements were identified.' },
    ASSESSMENT_COMPLETED: { description: 'A client completed an assessment.' },
  },
});

export const eventTypeOf = (name: EventTypeName): EventType | undefined =>
  EVENT_TYPES.find((type) => type === name.toLowerCase());

export const PartnerEvent = builder.interfaceRef<AnyEvent>('PartnerEvent').implement({
  description: 'A webhook event, after deduplication.',
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    cursor: t.field({
      ...required(
        'EventCursor',
        'Position in the event log. Pass the last one you received as `after` to resume.',
      ),
      resolve: (event, _args, ctx) => ctx.hub.cursorAt(event.position),
    }),
    type: t.field({
      ...required(PartnerEventType, 'Type of the event.'),
      resolve: (event) => event.type.toUpperCase() as EventTypeName,
    }),
    occurredAt: t.expose(
      'occurredAt',
      required('DateTime', 'The sender’s time stamp (`timeStamp`). Events arrive in any order.'),
    ),
    receivedAt: t.field({
      ...required('DateTime', 'When this gateway accepted the event.'),
      resolve: ({ receivedAt }) => new Date(receivedAt).toISOString(),
    }),
  }),
});

export const SessionEvent = builder.interfaceRef<AnySessionEvent>('SessionEvent').implement({
  description: 'An event of a session: one of six types.',
  interfaces: [PartnerEvent],
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    session: t.field({ ...required(Session, 'The session.'), resolve: sessionOfEvent }),
    sessionExternalId: t.exposeString('sessionExternalId', {
      description: 'The partner’s own identifier for the session, as the event has it.',
    }),
    client: t.field({ ...required(Client, 'The client of the session.'), resolve: clientOfEvent }),
    clinician: t.field({
      ...required(Clinician, 'The clinician of the session.'),
      resolve: clinicianOfEvent,
    }),
    clinic: t.field({
      ...required(Clinic, 'The clinic of the clinician.'),
      resolve: clinicOfEvent,
    }),
    organization: t.field({
      ...required(Organization, 'The organization of the clinic.'),
      resolve: organizationOfEvent,
    }),
  }),
});

export const ProgressNoteEvent = builder.interfaceRef<NoteEvent>('ProgressNoteEvent').implement({
  description: 'An event of a progress note: one of three types.',
  interfaces: [SessionEvent, PartnerEvent],
  resolveType: typeNameOfEvent,
  fields: (t) => ({
    progressNoteId: t.expose('progressNoteId', required('UUID', 'UUID of the note.')),
    progressNote: t.field({
      type: ProgressNote,
      description:
        'The note as it is now, read from the Partner API. Null if it no longer exists (a later regeneration may have replaced it), or is not open to you.',
      extensions: oneCall,
      resolve: noteOfEvent,
    }),
  }),
});

const noteEvent = (name: string, description: string) =>
  builder
    .objectRef<NoteEvent>(name)
    .implement({ description, interfaces: [ProgressNoteEvent, SessionEvent, PartnerEvent] });

noteEvent('ProgressNoteGenerated', 'A progress note was generated.');
noteEvent(
  'ProgressNoteRegenerated',
  'A note was generated again, after a magic edit or a regeneration.',
);
export const ProgressNoteFinalized = noteEvent(
  'ProgressNoteFinalized',
  'A note was finalized and is locked from now on.',
);

export const TranscriptReady = builder
  .objectRef<TranscriptReadyEvent>('TranscriptReady')
  .implement({
    description: 'The transcript of a session is ready. A note usually follows.',
    interfaces: [SessionEvent, PartnerEvent],
    fields: (t) => ({
      transcript: t.field({
        type: Transcript,
        description: 'The transcript, read from the Partner API. Null if it is not open to you.',
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
      error: t.expose('error', required('String', 'The error, as the Partner API describes it.')),
    }),
  });

export const MDMElementsIdentified = builder
  .objectRef<MdmEvent>('MDMElementsIdentified')
  .implement({
    description: 'The MDM elements of a session are ready. Only for a prescriber’s note types.',
    interfaces: [SessionEvent, PartnerEvent],
    fields: (t) => ({
      mdmId: t.expose('mdmId', { type: 'UUID', description: 'UUID of the MDM elements.' }),
      mdm: t.field({
        type: Mdm,
        description: 'The MDM elements, read from the Partner API. Null if not open to you.',
        extensions: oneCall,
        resolve: mdmOfEvent,
      }),
    }),
  });

export const AssessmentCompleted = builder
  .objectRef<AssessmentEvent>('AssessmentCompleted')
  .implement({
    description:
      'A client completed one assessment. A webhook with several scores becomes one event for each new score.',
    interfaces: [PartnerEvent],
    fields: (t) => ({
      client: t.field({
        ...required(Client, 'The client who was assessed.'),
        resolve: clientOfEvent,
      }),
      assessmentId: t.expose(
        'assessmentId',
        required('String', 'Identifier of the assessment, such as `phq9`.'),
      ),
      assessmentScoreId: t.expose('scoreId', required('UUID', 'UUID of the score.')),
      assessmentScore: t.field({
        type: AssessmentScore,
        description: 'The score, read from the Partner API. Null if it is not open to you.',
        extensions: oneCall,
        resolve: scoreOfEvent,
      }),
    }),
  });
