import type * as Events from '../events/partner-event.ts';
import { mdms, noteOfEvent, scoreById, transcripts } from '../resolvers/artifacts.ts';
import { clientOfEvent, linkTo, sessionOfEvent } from '../resolvers/records.ts';
import { builder, enumValues, optional, required } from './builder.ts';

/** Each type of event: its GraphQL type, and the description of its value in the enum. */
const TYPES = {
  progress_note_generated: ['ProgressNoteGenerated', 'A note was generated.'],
  progress_note_regenerated: ['ProgressNoteRegenerated', 'A note was generated again.'],
  progress_note_finalized: ['ProgressNoteFinalized', 'A note was finalized and is locked.'],
  transcript_ready: ['TranscriptReady', 'A transcript is ready.'],
  session_transcript_error: ['SessionTranscriptError', 'Transcription failed.'],
  mdm_elements_identified: ['MDMElementsIdentified', 'MDM elements were identified.'],
  assessment_completed: ['AssessmentCompleted', 'A client completed an assessment.'],
} as const satisfies Record<Events.EventType, readonly [name: string, description: string]>;
export type EventTypeNames = { [T in Events.EventType]: (typeof TYPES)[T][0] };

export const typeNameOf = ({ type }: Pick<Events.PartnerEvent, 'type'>): string => TYPES[type][0];

const descriptions = Object.entries(TYPES).map(([type, [, description]]) => [type, description]);
export const PartnerEventType = builder.enumType('PartnerEventType', {
  description: 'The seven types of events, as the Partner API names them.',
  values: enumValues<Events.EventType>(Object.fromEntries(descriptions)),
});

builder.interfaceType('PartnerEvent', {
  description: 'A webhook event, after deduplication.',
  resolveType: typeNameOf,
  fields: (t) => ({
    cursor: t.field({
      ...required(
        'EventCursor',
        'Position in the event log. Pass the last one you received as `after` to resume.',
      ),
      resolve: (event, _args, ctx) => ctx.hub.cursorAt(event.position, event.receivedAt),
    }),
    type: t.expose('type', required(PartnerEventType, 'Type of the event.')),
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

builder.interfaceType('SessionEvent', {
  description: 'An event of a session: one of six types.',
  interfaces: ['PartnerEvent'],
  resolveType: typeNameOf,
  fields: (t) => ({
    session: t.field(required('Session', 'The session.', sessionOfEvent)),
    sessionExternalId: t.exposeString('sessionExternalId', {
      description: 'The partner’s own identifier for the session, as the event has it.',
    }),
    client: t.field(required('Client', 'The client of the session.', clientOfEvent)),
    clinician: t.field({
      ...required('Clinician', 'The clinician of the session.'),
      resolve: ({ clinicianId, clinicId }) => linkTo('Clinician', clinicianId, { clinicId }),
    }),
    clinic: t.field({
      ...required('Clinic', 'The clinic of the clinician.'),
      resolve: ({ clinicId, organizationId }) => linkTo('Clinic', clinicId, { organizationId }),
    }),
    organization: t.field({
      ...required('Organization', 'The organization of the clinic.'),
      resolve: ({ organizationId }) => linkTo('Organization', organizationId),
    }),
  }),
});

builder.interfaceType('ProgressNoteEvent', {
  description: 'An event of a progress note: one of three types.',
  interfaces: ['SessionEvent', 'PartnerEvent'],
  resolveType: typeNameOf,
  fields: (t) => ({
    progressNoteId: t.expose('progressNoteId', required('UUID', 'UUID of the note.')),
    progressNote: t.field({
      type: 'ProgressNote',
      description:
        'The note as it is now, read from the Partner API. Null if it no longer exists (a later regeneration may have replaced it), or is not open to you.',
      resolve: noteOfEvent,
    }),
  }),
});

const noteEvents = {
  ProgressNoteGenerated: 'A progress note was generated.',
  ProgressNoteRegenerated: 'A note was generated again, after a magic edit or a regeneration.',
  ProgressNoteFinalized: 'A note was finalized and is locked from now on.',
} as const;
for (const [name, description] of Object.entries(noteEvents)) {
  builder.objectType(name as keyof typeof noteEvents, {
    description,
    interfaces: ['ProgressNoteEvent', 'SessionEvent', 'PartnerEvent'],
  });
}

builder.objectType('TranscriptReady', {
  description: 'The transcript of a session is ready. A note usually follows.',
  interfaces: ['SessionEvent', 'PartnerEvent'],
  fields: (t) => ({
    transcript: t.field({
      type: 'Transcript',
      description: 'The transcript, read from the Partner API. Null if it is not open to you.',
      resolve: transcripts.ofEvent,
    }),
  }),
});

builder.objectType('SessionTranscriptError', {
  description: 'Transcription failed: there will be no transcript and no note.',
  interfaces: ['SessionEvent', 'PartnerEvent'],
  fields: (t) => ({
    error: t.field({
      ...required('String', 'The error, as the Partner API describes it.'),
      resolve: ({ error }, _args, ctx) => ctx.responseSize.addValue(error),
    }),
  }),
});

builder.objectType('MDMElementsIdentified', {
  description: 'The MDM elements of a session are ready. Only for a prescriber’s note types.',
  interfaces: ['SessionEvent', 'PartnerEvent'],
  fields: (t) => ({
    mdmId: t.expose('mdmId', optional('UUID', 'UUID of the MDM elements, if the event has it.')),
    mdm: t.field({
      type: 'MDM',
      description: 'The MDM elements, read from the Partner API. Null if not open to you.',
      resolve: mdms.ofEvent,
    }),
  }),
});

builder.objectType('AssessmentCompleted', {
  description:
    'A client completed one assessment. A webhook with several scores becomes one event for each new score.',
  interfaces: ['PartnerEvent'],
  fields: (t) => ({
    client: t.field(required('Client', 'The client who was assessed.', clientOfEvent)),
    assessmentId: t.expose(
      'assessmentId',
      required('String', 'Identifier of the assessment, such as `phq9`.'),
    ),
    assessmentScoreId: t.expose('scoreId', required('UUID', 'UUID of the score.')),
    assessmentScore: t.field({
      type: 'AssessmentScore',
      description: 'The score, read from the Partner API. Null if it is not open to you.',
      resolve: ({ scoreId: id, clientId }, _args, ctx) => scoreById({ id, clientId }, ctx),
    }),
  }),
});
