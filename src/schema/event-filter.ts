import type { EventFilter as Filter } from '../events/filter.ts';
import { builder } from './builder.ts';
import { PartnerEventType, eventTypeOf } from './events.ts';
import { type GlobalIds, idWithClientOf, optionalIdOf } from './global-id.ts';

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
  const records = {
    organizationId: optionalIdOf('Organization', 'organizationId', input.organizationId, ids),
    clinicId: optionalIdOf('Clinic', 'clinicId', input.clinicId, ids),
    clinicianId: optionalIdOf('Clinician', 'clinicianId', input.clinicianId, ids),
    clientId: optionalIdOf('Client', 'clientId', input.clientId, ids),
    sessionId: session?.id,
    clientOfSession: session?.clientId,
  };
  const given = Object.entries(records).filter(([, id]) => id !== undefined);
  return { ...(types && { types }), ...Object.fromEntries(given) };
}
