import type { TypeParam } from '@pothos/core';

import type { Context } from '../context.ts';
import type { EventType } from '../events/partner-event.ts';
import { subscribeToEvents } from '../resolvers/events/event-log.ts';
import { builder, required } from './builder.ts';
import { EventFilter, eventFilterOf } from './event-log.ts';
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

/** Options of a subscription to events of these types, or of all. Each event is the root value of its own execution. */
const live = <T extends TypeParam<typeof builder.$inferSchemaTypes>>(
  type: T,
  description: string,
  ...types: readonly EventType[]
) => ({
  ...required(type, description),
  args: resumable,
  subscribe: (_root: unknown, { filter, after }: ResumableArgs, ctx: Context) => {
    const wanted = eventFilterOf(filter, ctx.ids);
    const both = wanted.types ? types.filter((each) => wanted.types?.includes(each)) : types;
    const narrowed = types.length > 0 ? { ...wanted, types: both } : wanted;
    return subscribeToEvents(narrowed, after, ctx) as Promise<AsyncIterable<never>>;
  },
  resolve: (event: unknown) => event as never,
});

builder.subscriptionType({
  description:
    'Live events, each delivered once. Pass the last `cursor` you received as `after` to resume.',
  fields: (t) => ({
    events: t.field(live(PartnerEvent, 'All events.')),
    noteReady: t.field(
      live(
        ProgressNoteEvent,
        'A note was generated, or generated again after an edit.',
        'progress_note_generated',
        'progress_note_regenerated',
      ),
    ),
    noteFinalized: t.field(
      live(
        ProgressNoteFinalized,
        'A note was finalized and is locked from now on.',
        'progress_note_finalized',
      ),
    ),
    transcriptReady: t.field(live(TranscriptReady, 'A transcript is ready.', 'transcript_ready')),
    transcriptFailed: t.field(
      live(
        SessionTranscriptError,
        'Transcription failed: there will be no transcript and no note.',
        'session_transcript_error',
      ),
    ),
    mdmIdentified: t.field(
      live(MDMElementsIdentified, 'MDM elements were identified.', 'mdm_elements_identified'),
    ),
    assessmentCompleted: t.field(
      live(AssessmentCompleted, 'A client completed an assessment.', 'assessment_completed'),
    ),
  }),
});
