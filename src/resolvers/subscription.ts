import type { Context } from '../context.ts';
import { type EventStream, openEventStream } from '../events/event-stream.ts';
import type { EventFilter } from '../events/filter.ts';
import { requireFilterAccess } from './access/filter-access.ts';

/** Events that the filter takes, past the cursor if one is given, and then as they come. */
export async function subscribeToEvents(
  filter: EventFilter,
  after: string | null | undefined,
  ctx: Context,
): Promise<EventStream> {
  await requireFilterAccess(filter, ctx);
  const { hub } = ctx;
  const position = typeof after === 'string' ? await hub.resume(after) : undefined;
  return openEventStream(hub, filter, position);
}
