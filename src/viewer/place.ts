import type { LineageStore } from '../store/lineage-store.ts';

/** Ids by kind, of all that a record lies under as far as the lineage knows. */
interface Place {
  readonly organizationIds: ReadonlySet<string>;
  readonly clinicIds: ReadonlySet<string>;
  readonly clinicianIds: ReadonlySet<string>;
}

/** Where a client lies: the lineage walked upwards, level by level. */
async function placeOfClient(clientId: string, lineage: LineageStore): Promise<Place> {
  const above = new Set<string>();
  let level = [`client:${clientId}`];
  while (level.length > 0) {
    const links = (await lineage.parentsOf(level)).flat();
    level = links.map(({ parent }) => parent).filter((parent) => !above.has(parent));
    for (const parent of level) above.add(parent);
  }
  const idsOf = (kind: string) =>
    new Set(
      [...above]
        .filter((name) => name.startsWith(`${kind}:`))
        .map((name) => name.slice(kind.length + 1)),
    );
  return {
    organizationIds: idsOf('organization'),
    clinicIds: idsOf('clinic'),
    clinicianIds: idsOf('clinician'),
  };
}

interface EventIds {
  readonly clientId: string;
  readonly clinicianId?: string;
  readonly clinicId?: string;
  readonly organizationId?: string;
}

/** A session's event names all that it lies under; an assessment names its client alone. */
export const createPlaceOf =
  (lineage: LineageStore) =>
  async (event: EventIds): Promise<Place> => {
    const { clinicianId, clinicId, organizationId } = event;
    if (!clinicianId || !clinicId || !organizationId) return placeOfClient(event.clientId, lineage);
    return {
      organizationIds: new Set([organizationId]),
      clinicIds: new Set([clinicId]),
      clinicianIds: new Set([clinicianId]),
    };
  };
