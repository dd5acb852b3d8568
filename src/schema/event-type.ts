import { EVENT_TYPES, type EventType, type PartnerEvent } from '../events/partner-event.ts';
import { builder } from './builder.ts';

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

export const PartnerEventType = builder.enumType('PartnerEventType', {
  description: 'The seven kinds of events, as the Partner API names them.',
  values: {
    PROGRESS_NOTE_GENERATED: { description: 'A progress note was created.' },
    PROGRESS_NOTE_REGENERATED: { description: 'A note was written again.' },
    PROGRESS_NOTE_FINALIZED: { description: 'A note was finalized and is locked.' },
    TRANSCRIPT_READY: { description: 'A transcript is there.' },
    SESSION_TRANSCRIPT_ERROR: { description: 'Transcription failed.' },
    MDM_ELEMENTS_IDENTIFIED: { description: 'MDM elements are there.' },
    ASSESSMENT_COMPLETED: { description: 'A client completed an assessment.' },
  },
});

export const eventTypeName = (type: EventType) => type.toUpperCase() as EventTypeName;

export const eventTypeOf = (name: EventTypeName): EventType | undefined =>
  EVENT_TYPES.find((type) => type === name.toLowerCase());

export const typeNameOfEvent = ({ type }: PartnerEvent): string => typeNames[type];
