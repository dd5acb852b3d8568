import type { LineageStore, Link } from '../store/lineage-store.ts';
import { steadyNow } from '../steady-clock.ts';
import { LINK_PROVES_FOR_MS } from './link-age.ts';

/** The ids of an event, as far as it names them. */
interface EventIds {
  readonly clientId: string;
  readonly sessionId?: string;
  readonly clinicianId?: string;
  readonly clinicId?: string;
  readonly organizationId?: string;
  readonly progressNoteId?: string;
  readonly scoreId?: string;
}

/** A session's client, a note's session and a score's client never change, so they are taken at once. */
export function recordLastingLinks(event: EventIds, lineage: LineageStore): void {
  const seenAt = steadyNow();
  lineage.record(
    [
      link('session', event.sessionId, 'client', event.clientId, seenAt),
      link('note', event.progressNoteId, 'session', event.sessionId, seenAt),
      link('score', event.scoreId, 'client', event.clientId, seenAt),
    ].filter((made) => made !== undefined),
  );
}

/**
 * What signed events say about who lies under whom. Where a client lies does change, and an event about an old session
 * still names the clinician of that time: such a link says where to look, and is recorded as too old to prove anything.
 * Answers whether any of it was new.
 */
export async function recordChangingLinks(
  events: readonly EventIds[],
  lineage: LineageStore,
): Promise<boolean> {
  const untold = events
    .flatMap(changingLinksOf)
    .filter((made) => !isAmong(made, lineage.known(made.child)));
  // Most were told by an event before. Of the others, some are known, but not to memory.
  if (untold.length === 0) return false;
  const known = await lineage.parentsOf(untold.map(({ child }) => child));
  const news = untold.filter((made, i) => !isAmong(made, known[i]));
  lineage.record(news);
  return news.length > 0;
}

const isAmong = ({ parent }: Link, known: readonly Link[] | undefined): boolean =>
  known?.some((existing) => existing.parent === parent) ?? false;

function changingLinksOf(event: EventIds): Link[] {
  const tooOld = steadyNow() - LINK_PROVES_FOR_MS;
  return [
    link('client', event.clientId, 'clinician', event.clinicianId, tooOld),
    link('client', event.clientId, 'clinic', event.clinicId, tooOld),
    link('clinician', event.clinicianId, 'clinic', event.clinicId, tooOld),
    link('clinic', event.clinicId, 'organization', event.organizationId, tooOld),
  ].filter((made) => made !== undefined);
}

function link(
  childKind: string,
  childId: string | undefined,
  parentKind: string,
  parentId: string | undefined,
  seenAt: number,
): Link | undefined {
  if (!childId || !parentId) return undefined;
  return { child: `${childKind}:${childId}`, parent: `${parentKind}:${parentId}`, seenAt };
}
