import type { EventType } from '../events/partner-event.ts';
import { builder } from './builder.ts';
import { EventFilter, eventFilterOf } from './event-filter.ts';
import {
  AssessmentCompleted,
  MDMElementsIdentified,
  PartnerEvent,
  ProgressNoteEvent,
  ProgressNoteFinalized,
  SessionTranscriptError,
  TranscriptReady,
} from './events.ts';

/**
 * What a field hears. The transports read it: an event is fanned out to all who want it, and each distinct operation
 * executed once, so that no field has a stream of its own.
 */
const hears = (...types: readonly EventType[]) => ({
  hears: { types: types.length > 0 ? types : undefined, filterOf: eventFilterOf },
});

const resumable = builder.args((t) => ({
  filter: t.field({ type: EventFilter, description: 'Only events that match.' }),
  after: t.field({
    type: 'EventCursor',
    description:
      'Position in the event log. Events after it are replayed first, then live events follow, without a gap or a repeat.',
  }),
}));

/** The event is the root of its own execution. */
const self = (event: unknown) => event as never;
const throughHub = () => {
  throw new Error('Subscriptions are served by the fan-out, not by a field.');
};

builder.subscriptionType({
  description:
    'Live events, each delivered once. Pass the last `cursor` you received as `after` to resume.',
  fields: (t) => ({
    events: t.field({
      type: PartnerEvent,
      description: 'All events.',
      nullable: false,
      args: resumable,
      extensions: hears(),
      subscribe: throughHub,
      resolve: self,
    }),
    noteReady: t.field({
      type: ProgressNoteEvent,
      description: 'A note was generated, or generated again after an edit.',
      nullable: false,
      args: resumable,
      extensions: hears('progress_note_generated', 'progress_note_regenerated'),
      subscribe: throughHub,
      resolve: self,
    }),
    noteFinalized: t.field({
      type: ProgressNoteFinalized,
      description: 'A note was finalized and is locked from now on.',
      nullable: false,
      args: resumable,
      extensions: hears('progress_note_finalized'),
      subscribe: throughHub,
      resolve: self,
    }),
    transcriptReady: t.field({
      type: TranscriptReady,
      description: 'A transcript is ready.',
      nullable: false,
      args: resumable,
      extensions: hears('transcript_ready'),
      subscribe: throughHub,
      resolve: self,
    }),
    transcriptFailed: t.field({
      type: SessionTranscriptError,
      description: 'Transcription failed: there will be no transcript and no note.',
      nullable: false,
      args: resumable,
      extensions: hears('session_transcript_error'),
      subscribe: throughHub,
      resolve: self,
    }),
    mdmIdentified: t.field({
      type: MDMElementsIdentified,
      description: 'MDM elements were identified.',
      nullable: false,
      args: resumable,
      extensions: hears('mdm_elements_identified'),
      subscribe: throughHub,
      resolve: self,
    }),
    assessmentCompleted: t.field({
      type: AssessmentCompleted,
      description: 'A client completed an assessment.',
      nullable: false,
      args: resumable,
      extensions: hears('assessment_completed'),
      subscribe: throughHub,
      resolve: self,
    }),
  }),
});
