import type { Places } from '../store/places.ts';
import { type PlaceOf, placeByOwnIds } from './filter.ts';
import { isSessionEvent } from './partner-event.ts';

/** A session's event names all that it lies under; an assessment names its client alone: the lists that last held them. */
export const createPlaceOf =
  (places: Places): PlaceOf =>
  async (event) => {
    if (isSessionEvent(event)) return placeByOwnIds(event);
    const known = await places.of(event.clientId);
    const idsOf = (kind: 'clinic' | 'clinician') =>
      new Set(known.filter((place) => place.kind === kind).map(({ id }) => id));
    return { clinicIds: idsOf('clinic'), clinicianIds: idsOf('clinician') };
  };
