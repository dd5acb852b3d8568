import type { Context } from '../context.ts';
import type { EventType } from '../events/partner-event.ts';
import { subscribeToEvents } from '../resolvers/subscription.ts';
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

const resumable = builder.args((t) => ({
  filter: t.field({ type: EventFilter, description: 'Only events that match.' }),
  after: t.field({
    type: 'EventCursor',
    description:
      'Position in the event log. Events after it are replayed first, then live events follow, without a gap or a repeat.',
  }),
}));

interface ResumableArgs {
  readonly filter?: typeof EventFilter.$inferInput | null | undefined;
  readonly after?: string | null | undefined;
}

/** Events of these types, or of all. Each one is the root value of its own execution. */
const eventsOf = (...types: readonly EventType[]) => ({
  args: resumable,
  subscribe: (_root: unknown, { filter, after }: ResumableArgs, ctx: Context) => {
    const wanted = eventFilterOf(filter, ctx.ids);
    const both = wanted.types ? types.filter((type) => wanted.types?.includes(type)) : types;
    const narrowed = types.length > 0 ? { ...wanted, types: both } : wanted;
    return subscribeToEvents(narrowed, after, ctx) as Promise<AsyncIterable<never>>;
  },
  resolve: (event: unknown) => event as never,
});

builder.subscriptionType({
  description:
    'Live events, each delivered once. Pass the last `cursor` you received as `after` to resume.',
  fields: (t) => ({
    events: t.field({
      type: PartnerEvent,
      description: 'All events.',
      nullable: false,
      ...eventsOf(),
    }),
    noteReady: t.field({
      type: ProgressNoteEvent,
      description: 'A note was generated, or generated again after an edit.',
      nullable: false,
      ...eventsOf('progress_note_generated', 'progress_note_regenerated'),
    }),
    noteFinalized: t.field({
      type: ProgressNoteFinalized,
      description: 'A note was finalized and is locked from now on.',
      nullable: false,
      ...eventsOf('progress_note_finalized'),
    }),
    transcriptReady: t.field({
      type: TranscriptReady,
      description: 'A transcript is ready.',
      nullable: false,
      ...eventsOf('transcript_ready'),
    }),
    transcriptFailed: t.field({
      type: SessionTranscriptError,
      description: 'Transcription failed: there will be no transcript and no note.',
      nullable: false,
      ...eventsOf('session_transcript_error'),
    }),
    mdmIdentified: t.field({
      type: MDMElementsIdentified,
      description: 'MDM elements were identified.',
      nullable: false,
      ...eventsOf('mdm_elements_identified'),
    }),
    assessmentCompleted: t.field({
      type: AssessmentCompleted,
      description: 'A client completed an assessment.',
      nullable: false,
      ...eventsOf('assessment_completed'),
    }),
  }),
});
