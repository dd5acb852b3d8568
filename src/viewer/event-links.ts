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
  const untold = events.flatMap((event) => untoldLinksOf(event, lineage));
  // Most were told by an event before. Of the others, some are known, but not to memory.
  if (untold.length === 0) return false;
  const known = await lineage.parentsOf(untold.map(({ child }) => child));
  const news = untold.filter(({ parent }, i) => !isAmong(parent, known[i]));
  lineage.record(news);
  return news.length > 0;
}

const isAmong = (parent: string, known: readonly Link[] | undefined): boolean =>
  known?.some((existing) => existing.parent === parent) ?? false;

function untoldLinksOf(event: EventIds, lineage: LineageStore): Link[] {
  const { clientId, clinicianId, clinicId, organizationId } = event;
  if (!clinicianId || !clinicId || !organizationId) return [];
  const [client, clinician, clinic] = [
    `client:${clientId}`,
    `clinician:${clinicianId}`,
    `clinic:${clinicId}`,
  ];
  return [
    ...untoldOf(client, [clinician, clinic], lineage),
    ...untoldOf(clinician, [clinic], lineage),
    ...untoldOf(clinic, [`organization:${organizationId}`], lineage),
  ];
}

function untoldOf(child: string, parents: readonly string[], lineage: LineageStore): Link[] {
  const known = lineage.known(child);
  return parents
    .filter((parent) => !isAmong(parent, known))
    .map((parent) => ({ child, parent, seenAt: steadyNow() - LINK_PROVES_FOR_MS }));
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
