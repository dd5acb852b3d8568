import { invalid } from './errors.ts';
import { CLINICIANS } from './layout.ts';
import type { Route } from './router.ts';
import type { World } from './world.ts';

/** Assigning further clinicians to a client. The API does not show the body: `clinicianIds` is assumed. */
export function secondaryRoutes({ ids, owned }: World): readonly Route[] {
  const assignedTo = new Map<number, Set<string>>();
  return [
    {
      template: 'POST /clients/:clientId/secondary-clinicians',
      handle({ id, body }) {
        const client = owned.client(id);
        const wanted = clinicianIdsIn(body);
        const isOurs = (clinicianId: string) =>
          (ids.keyOf('clinician', clinicianId) ?? CLINICIANS) < CLINICIANS;
        if (!wanted.every(isOurs)) {
          throw invalid('each value in clinicianIds must be a clinician of the organization');
        }
        const known = assignedTo.get(client) ?? new Set();
        const assigned = wanted.filter((clinicianId) => !known.has(clinicianId));
        assignedTo.set(client, known.union(new Set(assigned)));
        return {
          clientId: ids.idOf('client', client),
          assigned,
          skipped: wanted.filter((clinicianId) => known.has(clinicianId)),
        };
      },
    },
  ];
}

function clinicianIdsIn(body: unknown): readonly string[] {
  const given: unknown =
    typeof body === 'object' && body !== null && 'clinicianIds' in body
      ? body.clinicianIds
      : undefined;
  if (!Array.isArray(given)) throw invalid('clinicianIds must be an array');
  const unique = new Set<string>();
  for (const value of given) {
    if (typeof value !== 'string') throw invalid('each value in clinicianIds must be a UUID');
    unique.add(value.toLowerCase());
  }
  return [...unique];
}
