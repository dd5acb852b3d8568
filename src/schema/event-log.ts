import { eventsSince, type EventWindow } from '../resolvers/event-log.ts';
import { cursorWhenBegun } from '../resolvers/events.ts';
import type { PartnerEvent as AnyEvent } from '../events/partner-event.ts';
import { forEvents } from '../resolvers/price.ts';
import { builder } from './builder.ts';
import { PageInfo } from './connection.ts';
import { PartnerEvent } from './events.ts';
import { EventFilter, eventFilterOf } from './event-filter.ts';

interface EventEdge {
  readonly cursor: string;
  readonly node: AnyEvent;
}

const PartnerEventEdge = builder.objectRef<EventEdge>('PartnerEventEdge').implement({
  description: 'An event and its place in the log.',
  fields: (t) => ({
    cursor: t.expose('cursor', {
      type: 'EventCursor',
      description: 'For `after`.',
      nullable: false,
    }),
    node: t.expose('node', { type: PartnerEvent, description: 'The event.', nullable: false }),
  }),
});

const PartnerEventConnection = builder.objectRef<EventWindow>('PartnerEventConnection').implement({
  description: 'A stretch of the event log.',
  fields: (t) => ({
    edges: t.expose('edges', {
      type: [PartnerEventEdge],
      description: 'The events with their positions.',
      nullable: false,
    }),
    nodes: t.field({
      type: [PartnerEvent],
      description: 'The events.',
      nullable: false,
      resolve: (window) => window.edges.map((edge) => edge.node),
    }),
    pageInfo: t.expose('pageInfo', {
      type: PageInfo,
      description: 'Where the stretch ends and whether there is more.',
      nullable: false,
    }),
  }),
});

builder.queryFields((t) => ({
  eventCursor: t.field({
    type: 'EventCursor',
    description:
      'The event log’s position when this query began: subscribe `after` it, and nothing falls between the two.',
    nullable: false,
    resolve: cursorWhenBegun,
  }),
  events: t.field({
    type: PartnerEventConnection,
    description: 'The event log, oldest first: what a client that was away has missed.',
    args: {
      first: t.arg.int({ description: 'So many events: 1 to 100, 10 if left out.' }),
      after: t.arg({ type: 'EventCursor', description: 'Only events after this position.' }),
      filter: t.arg({ type: EventFilter, description: 'Only those that match.' }),
    },
    extensions: forEvents(10, 'first'),
    resolve: (_root, args, ctx) =>
      eventsSince({ ...args, filter: eventFilterOf(args.filter, ctx.ids) }, ctx),
  }),
}));
