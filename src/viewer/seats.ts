import type { Loaded } from '../loaded.ts';
import type { Authenticator } from './authenticate.ts';
import type { Viewer } from './viewer.ts';

/** A key that was withdrawn works on for no longer than this after its token was looked at. */
const LOOK_EVERY_MS = 1_000;

interface Clock {
  readonly now: () => number;
  readonly wallNow: () => number;
}

interface Seat {
  readonly authorization: string | undefined;
  readonly viewer: Viewer;
  readonly until: number;
}

/**
 * A connection is most often one viewer's: their token is looked at once a second, not with every request. Its text is
 * kept for as long as the connection lasts, as that of the request itself is.
 */
export function createSeats({ authenticate }: Authenticator, clock: Clock) {
  const seats = new WeakMap<object, Seat>();
  const isTaken = ({ viewer, until }: Seat): boolean =>
    clock.now() < until && clock.wallNow() < (viewer.expiresAt ?? Number.POSITIVE_INFINITY);

  return (connection: object, authorization: string | undefined): Loaded<Viewer> => {
    const seat = seats.get(connection);
    if (seat && seat.authorization === authorization && isTaken(seat)) return seat.viewer;
    return authenticate(authorization).then((viewer) => {
      const until = clock.now() + LOOK_EVERY_MS;
      seats.set(connection, { authorization, viewer, until });
      return viewer;
    });
  };
}
