import type { PageInfo } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import type { EventFilter } from '../events/filter.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import { BadInput } from './bad-input.ts';
import { maySeeEvent } from './hearing.ts';
import { sawEvent } from './shown.ts';

const DEFAULT_EVENTS = 10;
const MOST_EVENTS = 100;

interface EventsArgs {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly filter: EventFilter;
}

export interface EventWindow {
  readonly edges: readonly { readonly cursor: string; readonly node: PartnerEvent }[];
  readonly pageInfo: PageInfo;
}

/** The log, oldest first, as far as the viewer may hear it. */
export async function eventsSince(args: EventsArgs, ctx: Context): Promise<EventWindow> {
  const first = args.first ?? DEFAULT_EVENTS;
  if (first < 1 || first > MOST_EVENTS) {
    throw new BadInput(`"first" must be between 1 and ${MOST_EVENTS}, but got ${first}`);
  }
  const after = args.after ? await ctx.hub.resume(args.after) : await ctx.hub.oldestPosition();
  const found: PartnerEvent[] = [];
  let at = after;
  let hasMore = true;
  // One more than asked for tells whether there is a next page without reading the log to its end.
  while (hasMore && found.length <= first) {
    const page = await ctx.hub.history(at, args.filter, first + 1);
    for (const event of page.events) if (await maySeeEvent(event, ctx)) found.push(event);
    ({ scannedTo: at, hasMore } = page);
  }
  return windowOf(found, first, args.after, ctx);
}

function windowOf(
  found: readonly PartnerEvent[],
  first: number,
  after: string | null | undefined,
  ctx: Context,
): EventWindow {
  const edges = found.slice(0, first).map((node) => {
    sawEvent(node, ctx);
    return { cursor: ctx.hub.cursorAt(node.position), node };
  });
  return {
    edges,
    pageInfo: {
      hasNextPage: () => found.length > first,
      hasPreviousPage: () => typeof after === 'string',
      startCursor: () => edges[0]?.cursor ?? null,
      endCursor: () => edges.at(-1)?.cursor ?? null,
    },
  };
}
