import type { PageInfo } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import type { EventFilter } from '../events/filter.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import type { Position } from '../store/event-log.ts';
import { BadInput } from './bad-input.ts';
import { requireFilterAccess } from './access/filter-access.ts';
import { maySeeEvent } from './access/event-access.ts';
import { sawEvent } from './access/audit-reads.ts';

const DEFAULT_EVENTS = 10;
const MOST_EVENTS = 100;
/** Whoever may see few of them in a long log looks at so many in one query, and goes on with the next. */
const MOST_JUDGED = 2_000;
const AT_A_TIME = 500;

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
  await requireFilterAccess(args.filter, ctx);
  ctx.doNotCache();
  const isResumed = typeof args.after === 'string';
  const after = isResumed ? await ctx.hub.resume(args.after) : await ctx.hub.oldestPosition();
  const found: PartnerEvent[] = [];
  let at = after;
  let hasMore = true;
  let judged = 0;
  // One more than asked for tells whether there is a next page without reading the log to its end.
  const most = ctx.reach.isPartner ? first + 1 : AT_A_TIME;
  while (hasMore && found.length <= first && judged < MOST_JUDGED) {
    const page = await ctx.hub.history(at, args.filter, most);
    for (const event of page.events) if (await maySeeEvent(event, ctx)) found.push(event);
    judged += page.events.length;
    ({ scannedTo: at, hasMore } = page);
  }
  return windowOf(found, first, hasMore ? at : undefined, args.after, ctx);
}

/** `goesOnAt`: where the log goes on unread. The window ends there if nothing more was found before it. */
function windowOf(
  found: readonly PartnerEvent[],
  first: number,
  goesOnAt: Position | undefined,
  after: string | null | undefined,
  ctx: Context,
): EventWindow {
  const edges = found.slice(0, first).map((node) => {
    sawEvent(node, ctx);
    return { cursor: ctx.hub.cursorAt(node.position), node };
  });
  const isCut = found.length > first;
  const end = isCut || goesOnAt === undefined ? edges.at(-1)?.cursor : ctx.hub.cursorAt(goesOnAt);
  return {
    edges,
    pageInfo: {
      hasNextPage: () => isCut || goesOnAt !== undefined,
      hasPreviousPage: () => typeof after === 'string',
      startCursor: () => edges[0]?.cursor ?? null,
      endCursor: () => end ?? null,
    },
  };
}
