import type { InputShapeFromFields, TypeParam } from '@pothos/core';

import type { Context } from '../context.ts';
import type { EventFilter as Filter } from '../events/filter.ts';
import { EVENT_TYPES, type EventType } from '../events/partner-event.ts';
import { type EventWindow, eventsSince, subscribeToEvents } from '../resolvers/event-log.ts';
import { builder, objectType, optional, required } from './builder.ts';
import { PartnerEventType, typeNameOf } from './events.ts';
import { type GlobalIds, parseParentIds } from './global-id.ts';

const EventFilter = builder.inputType('EventFilter', {
  description:
    'Conditions that an event must meet. All given fields must match. The most specific record named here must be open to you.',
  fields: (t) => ({
    types: t.field(optional([PartnerEventType], 'Events of any of these types.')),
    organizationId: t.id({ description: 'Events of this organization.' }),
    clinicId: t.id({ description: 'Events of this clinic.' }),
    clinicianId: t.id({ description: 'Events of this clinician’s clients.' }),
    clientId: t.id({ description: 'Events of this client.' }),
    sessionId: t.id({ description: 'Events of this session.' }),
  }),
});

type SubscriptionArgs = InputShapeFromFields<typeof subscriptionArgs>;

const eventFilterOf = (input: SubscriptionArgs['filter'], ids: GlobalIds): Filter => ({
  ...(input?.types && { types: input.types }),
  ...parseParentIds(input ?? {}, ids),
});

objectType('PartnerEventEdge', 'An event and its position in the log.', () => ({
  cursor: required('EventCursor', 'Position of the event in the log, for `after`.'),
  node: required('PartnerEvent', 'The event.'),
}));

objectType('PartnerEventConnection', 'A page of the event log.', () => ({
  edges: required(['PartnerEventEdge'], 'The events with their positions.'),
  nodes: required(['PartnerEvent'], 'The events.', ({ edges }: EventWindow) =>
    edges.map(({ node }) => node),
  ),
  pageInfo: required('PageInfo', 'Cursors of the page, and whether there are more events.'),
}));

builder.queryFields((t) => ({
  eventCursor: t.field({
    ...required(
      'EventCursor',
      'Position of the event log when this query began. Subscribe with it as `after`, and no event is missed between the two.',
    ),
    resolve: (_root, _args, ctx) => {
      ctx.doNotCache();
      return ctx.hub.cursorAt(ctx.startPosition);
    },
  }),
  events: t.field({
    type: 'PartnerEventConnection',
    description:
      'The event log, oldest event first. A page may be short or empty while `hasNextPage` is true: go on from `endCursor`.',
    args: {
      first: t.arg.int({ description: 'Number of events: 1 to 100, 10 by default.' }),
      after: t.arg(optional('EventCursor', 'Only events after this position.')),
      filter: t.arg(optional(EventFilter, 'Only events that match.')),
    },
    resolve: (_root, args, ctx) => eventsSince(args, eventFilterOf(args.filter, ctx.ids), ctx),
  }),
}));

const subscriptionArgs = builder.args((t) => ({
  filter: t.field(optional(EventFilter, 'Only events that match.')),
  after: t.field({
    type: 'EventCursor',
    description:
      'Position in the event log. Events after it are replayed first, then live events follow, without a gap or a repeat.',
  }),
}));

/** Options of a subscription to these types of events, by default the GraphQL type's. Each event is a root value. */
const live = <T extends TypeParam<typeof builder.$inferSchemaTypes>>(
  type: T,
  description: string,
  types: readonly EventType[] = EVENT_TYPES.filter((each) => typeNameOf({ type: each }) === type),
) => ({
  ...required(type, description),
  args: subscriptionArgs,
  subscribe: (_root: unknown, args: SubscriptionArgs, ctx: Context) => {
    const { types: wanted = types, ...ids } = eventFilterOf(args.filter, ctx.ids);
    const narrowed = { ...ids, types: types.filter((each) => wanted.includes(each)) };
    return subscribeToEvents(args, narrowed, ctx) as Promise<AsyncIterable<never>>;
  },
  resolve: (event: unknown) => event as never,
});

builder.subscriptionType({
  description:
    'Live events, each delivered once. Pass the last `cursor` you received as `after` to resume.',
  fields: (t) => ({
    events: t.field(live('PartnerEvent', 'All events.', EVENT_TYPES)),
    noteReady: t.field(
      live('ProgressNoteEvent', 'A note was generated, or regenerated.', [
        'progress_note_generated',
        'progress_note_regenerated',
      ]),
    ),
    noteFinalized: t.field(
      live('ProgressNoteFinalized', 'A note was finalized and is locked from now on.'),
    ),
    transcriptReady: t.field(live('TranscriptReady', 'A transcript is ready.')),
    transcriptFailed: t.field(
      live(
        'SessionTranscriptError',
        'Transcription failed: there will be no transcript and no note.',
      ),
    ),
    mdmIdentified: t.field(live('MDMElementsIdentified', 'MDM elements were identified.')),
    assessmentCompleted: t.field(live('AssessmentCompleted', 'A client completed an assessment.')),
  }),
});
