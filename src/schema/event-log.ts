import type { PartnerEvent as AnyEvent } from '../events/partner-event.ts';
import { eventsSince, type EventWindow } from '../resolvers/event-log.ts';
import { cursorWhenBegun } from '../resolvers/events.ts';
import { forEvents } from '../resolvers/price.ts';
import { builder, required } from './builder.ts';
import { PageInfo } from './connection.ts';
import { EventFilter, eventFilterOf } from './event-filter.ts';
import { PartnerEvent } from './events.ts';

interface EventEdge {
  readonly cursor: string;
  readonly node: AnyEvent;
}

const PartnerEventEdge = builder.objectRef<EventEdge>('PartnerEventEdge').implement({
  description: 'An event and its position in the log.',
  fields: (t) => ({
    cursor: t.expose(
      'cursor',
      required('EventCursor', 'Position of the event in the log, for `after`.'),
    ),
    node: t.expose('node', { type: PartnerEvent, description: 'The event.', nullable: false }),
  }),
});

const PartnerEventConnection = builder.objectRef<EventWindow>('PartnerEventConnection').implement({
  description: 'A page of the event log.',
  fields: (t) => ({
    edges: t.expose('edges', required([PartnerEventEdge], 'The events with their positions.')),
    nodes: t.field({
      ...required([PartnerEvent], 'The events.'),
      resolve: (page) => page.edges.map((edge) => edge.node),
    }),
    pageInfo: t.expose(
      'pageInfo',
      required(PageInfo, 'Cursors of the page, and whether there are more events.'),
    ),
  }),
});

builder.queryFields((t) => ({
  eventCursor: t.field({
    ...required(
      'EventCursor',
      'Position of the event log when this query began. Subscribe with it as `after`, and no event is missed between the two.',
    ),
    resolve: cursorWhenBegun,
  }),
  events: t.field({
    type: PartnerEventConnection,
    description: 'The event log, oldest event first.',
    args: {
      first: t.arg.int({ description: 'Number of events: 1 to 100, 10 by default.' }),
      after: t.arg({ type: 'EventCursor', description: 'Only events after this position.' }),
      filter: t.arg({ type: EventFilter, description: 'Only events that match.' }),
    },
    extensions: forEvents(10, 'first'),
    resolve: (_root, args, ctx) =>
      eventsSince({ ...args, filter: eventFilterOf(args.filter, ctx.ids) }, ctx),
  }),
}));
