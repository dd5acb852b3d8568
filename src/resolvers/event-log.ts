import type { PageInfo } from '../connection/connection.ts';
import { type WindowArgs, sizeOf } from '../connection/window.ts';
import { type Context, MAX_EVENTS_READ } from '../context.ts';
import { type EventFilter, matches } from '../events/filter.ts';
import type { PartnerEvent, SessionEvent } from '../events/partner-event.ts';
import { OF_SUBJECT_LIMIT } from '../store/store.ts';
import { RECORD_KINDS } from '../viewer/viewer.ts';
import { isOpen, requireAccess } from './access/prove.ts';
import { CodedError, NotFound, hasCode } from '../errors.ts';
import { createLookup } from './lookup/lookup.ts';
import { type ListedRef, NAMED_TYPES, type SessionRef, kindOf } from './refs.ts';

/**
 * May the viewer see this event, under this filter? For a session's event, a grant must name one of its ids. For an
 * assessment, its client must be open, and in the lists of the clinician, clinic or organization that the filter names,
 * which must be open too: no list is read that the viewer may not. What an event links to needs proof in any case.
 */
export async function isVisible(event: PartnerEvent, filter: EventFilter, ctx: Context) {
  const { reach } = ctx;
  if ('sessionId' in event)
    return reach.isPartner || RECORD_KINDS.some((kind) => reach.holds(kind, event[`${kind}Id`]));
  const client = { type: 'Client', id: event.clientId } as const;
  const assessedAt = ctx.recentLists.assessedAt(event.clientId);
  if (!(await isOpen(client, ctx, assessedAt))) return false;
  // After the client, since most assessments are of others. Each time, since a clinician may have left.
  for (const parent of recordsIn(filter))
    if (parent.type !== 'Client' && !(await isOpen(parent, ctx))) return false;
  return createLookup(ctx, { assessedAt }).isClientUnder(filter, event.clientId);
}

/** The most specific record that a filter names must be open to the viewer; otherwise it does not exist. */
async function requireFilterAccess(filter: EventFilter, ctx: Context): Promise<void> {
  const [named] = recordsIn(filter);
  if (!named) return;
  try {
    if (!(await isOpen(named, ctx))) throw new NotFound();
  } catch (error) {
    // Written at once: other denials are written when the operation ends, and a rejected subscription has no end.
    if (error instanceof NotFound)
      ctx.audit?.writeNow('filter: denied', `${named.type}:${named.id}`);
    throw error;
  }
}

/** The most specific record first: the others narrow it further, and say where to look for it. */
function recordsIn(filter: EventFilter): readonly ListedRef[] {
  return NAMED_TYPES.flatMap((type) => {
    const id = filter[`${kindOf(type)}Id`];
    const clientId = type === 'Session' ? filter.sessionClientId : undefined;
    return id ? [{ type, id, clientId, namedParents: filter }] : [];
  });
}

export function auditEventRead(event: PartnerEvent, { audit }: Context): void {
  audit?.read.add(
    'sessionId' in event ? `Session:${event.sessionId}` : `AssessmentScore:${event.scoreId}`,
  );
}

/** Events of the log that the viewer may see, oldest first. `first` was checked when the calls were estimated. */
export async function eventsSince(args: WindowArgs, filter: EventFilter, ctx: Context) {
  const { count: first } = sizeOf(args);
  ctx.doNotCache();
  await requireFilterAccess(filter, ctx);
  const origin = ctx.hub.cursorAt(0);
  const { found, next } = await readEvents(args, first, filter, ctx);
  // Throws EventsExpired if the log was lost meanwhile: what was read may be of two logs.
  if (ctx.hub.cursorAt(0) !== origin) await ctx.hub.resume(origin);
  const edges = found.slice(0, first).map((node) => {
    auditEventRead(node, ctx);
    return { cursor: ctx.hub.cursorAt(node.position, node.receivedAt), node };
  });
  // If a limit ended the read, the next page begins after what was read, matching or not.
  const isLimited = next !== undefined && found.length <= first;
  const end = isLimited ? ctx.hub.cursorAt(next) : edges.at(-1)?.cursor;
  const pageInfo: PageInfo = {
    hasNextPage: next !== undefined,
    hasPreviousPage: typeof args.after === 'string',
    startCursor: edges[0]?.cursor ?? null,
    endCursor: end ?? null,
  };
  return { edges, pageInfo };
}
export type EventWindow = Awaited<ReturnType<typeof eventsSince>>;

/** One event more than `first`, to see whether there is a next page. `next` is set if the log was not read to its end. */
async function readEvents({ after }: WindowArgs, first: number, filter: EventFilter, ctx: Context) {
  const { hub, eventBudget: budget } = ctx;
  const found: PartnerEvent[] = [];
  // No event can match.
  if (filter.types?.length === 0 || ctx.viewer.grants.length === 0) return { found };
  const start = typeof after === 'string' ? await hub.resume(after) : await hub.oldestPosition();
  let at = start;
  while (budget.left > 0 && !ctx.usage.isOver) {
    const chunk = await hub.oneAtATime(ctx.viewer.subject, async () => {
      if (budget.left === 0) return undefined;
      const read = await hub.scan(at, budget.left);
      budget.left -= read.scannedTo - at;
      return read;
    });
    if (!chunk) break;
    if (chunk.scannedTo === at) return { found };
    for (const event of chunk.events) {
      try {
        if (matches(filter, event) && (await isVisible(event, filter, ctx))) found.push(event);
      } catch (error) {
        // The next page begins with this event, and with a new limit.
        if (hasCode(error, 'QUERY_TOO_EXPENSIVE') && at > start) return { found, next: at };
        throw error;
      }
      if (found.length > first) return { found, next: event.position };
      at = event.position;
    }
    at = chunk.scannedTo;
  }
  return { found, next: at };
}

/** The newest thousand events of a session. A list that would be cut short by the budget is an error. */
export const eventsOfSession = (session: SessionRef, _args: unknown, ctx: Context) =>
  requireAccess(session, ctx, readEventsOfSession);

function readEventsOfSession({ id }: SessionRef, ctx: Context): Promise<readonly SessionEvent[]> {
  ctx.doNotCache();
  const { eventBudget: budget } = ctx;
  return ctx.hub.oneAtATime(ctx.viewer.subject, async () => {
    const limit = Math.min(OF_SUBJECT_LIMIT, budget.left);
    const events = limit > 0 ? await ctx.hub.ofSession(id, limit) : [];
    budget.left -= events.length;
    if (limit < OF_SUBJECT_LIMIT && events.length === limit) {
      // This field has no cursor to continue from.
      const message = `One operation reads at most ${MAX_EVENTS_READ} events: ask for the events of fewer sessions at once.`;
      throw new CodedError('QUERY_TOO_EXPENSIVE', message);
    }
    return events;
  });
}

/** Where a new subscription begins: after the cursor, or with the operation, since the check of access may take seconds. */
export async function subscribeToEvents({ after }: WindowArgs, filter: EventFilter, ctx: Context) {
  const { hub, startPosition } = ctx;
  const origin = hub.cursorAt(0);
  await requireFilterAccess(filter, ctx);
  // Throws EventsExpired if the log was lost meanwhile: in the new one, the position may be far ahead.
  if (hub.cursorAt(0) !== origin) await hub.resume(origin);
  const position = typeof after === 'string' ? await hub.resume(after) : startPosition;
  // graphql wants an iterable. The gateway delivers the events itself, and never iterates it.
  return { filter, position, async *[Symbol.asyncIterator]() {} };
}
export type SubscriptionStart = Awaited<ReturnType<typeof subscribeToEvents>>;
