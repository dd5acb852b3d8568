import type { EventFilter as Filter } from '../events/filter.ts';
import { type EventWindow, cursorAtStart, eventsSince } from '../resolvers/events/event-log.ts';
import { forEvents } from '../resolvers/price.ts';
import { builder, required } from './builder.ts';
import { PageInfo } from './connection.ts';
import { PartnerEvent, PartnerEventType, eventTypeOf } from './events.ts';
import { type GlobalIds, idWithClientOf, parentsOf } from './global-id.ts';

export const EventFilter = builder.inputType('EventFilter', {
  description: 'Conditions that an event must meet. All given fields must match.',
  fields: (t) => ({
    types: t.field({ type: [PartnerEventType], description: 'Events of any of these types.' }),
    organizationId: t.id({ description: 'Events of this organization.' }),
    clinicId: t.id({ description: 'Events of this clinic.' }),
    clinicianId: t.id({ description: 'Events of this clinician’s clients.' }),
    clientId: t.id({ description: 'Events of this client.' }),
    sessionId: t.id({ description: 'Events of this session.' }),
  }),
});

export function eventFilterOf(
  input: typeof EventFilter.$inferInput | null | undefined,
  ids: GlobalIds,
): Filter {
  if (!input) return {};
  const types = input.types?.map(eventTypeOf).filter((type) => type !== undefined);
  const session =
    typeof input.sessionId === 'string'
      ? idWithClientOf('Session', 'sessionId', input.sessionId, ids)
      : undefined;
  return {
    ...(types && { types }),
    ...(parentsOf(input, ids) as Filter),
    ...(session && { sessionId: session.id }),
    ...(session?.clientId && { clientOfSession: session.clientId }),
  };
}

const PartnerEventEdge = builder
  .objectRef<EventWindow['edges'][number]>('PartnerEventEdge')
  .implement({
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
    resolve: cursorAtStart,
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
