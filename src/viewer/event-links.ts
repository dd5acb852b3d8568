import type { LineageStore, Link } from '../store/lineage-store.ts';

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

/**
 * What a signed event says about who lies under whom. A session's client, a note's session and a score's client
 * never change, so they are taken at once. Where a client lies can change, and a list is the better witness: there an
 * event only adds what no list has told, and never makes an old link look fresh.
 */
export async function linksOfEvent(event: EventIds, lineage: LineageStore): Promise<void> {
  const seenAt = Date.now();
  const lasting = [
    link('session', event.sessionId, 'client', event.clientId, seenAt),
    link('note', event.progressNoteId, 'session', event.sessionId, seenAt),
    link('score', event.scoreId, 'client', event.clientId, seenAt),
  ];
  const changing = [
    link('client', event.clientId, 'clinician', event.clinicianId, seenAt),
    link('client', event.clientId, 'clinic', event.clinicId, seenAt),
    link('clinician', event.clinicianId, 'clinic', event.clinicId, seenAt),
    link('clinic', event.clinicId, 'organization', event.organizationId, seenAt),
  ].filter((made) => made !== undefined);
  const known = await lineage.parentsOf(changing.map(({ child }) => child));
  const news = changing.filter(
    ({ parent }, i) => !known[i]?.some((existing) => existing.parent === parent),
  );
  lineage.record([...lasting.filter((made) => made !== undefined), ...news]);
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
