import type { Place } from './cursor.ts';
import { cutOf, pagesToSearch, sightOf } from './drift.ts';
import { got, type Steps } from './loaded.ts';
import type { Reading } from './reading.ts';
import type { WindowRequest } from './window-args.ts';
import { pagesNeeded, windowOf, type Need, type Window } from './window.ts';

/** A list that changes with every read has to be left at some point. */
const MOST_ROUNDS = 8;

/**
 * Where the window lies in the list as it is now, with the pages that `need` wants read. While nothing changed, the pages
 * to begin with are all there is to read, and this ends at its first look.
 */
export function* settledWindow(
  request: WindowRequest,
  need: Need,
  begun: readonly number[],
  reading: Reading<unknown>,
): Steps<Window> {
  let wanted = begun;
  for (let round = 1; ; round += 1) {
    const total = yield* settledTotal(wanted, reading);
    const low = yield* cutAt('after', request.after, 0, reading);
    const high = yield* cutAt('before', request.before, Infinity, reading);
    const window = windowOf(request, { low, high }, reading.total() ?? total);
    wanted = pagesNeeded(window, need);
    const isComplete =
      wanted.every((page) => reading.page(page) !== undefined) && reading.total() === total;
    if (isComplete) return window;
    yield* got(reading.read(wanted));
    if (round === MOST_ROUNDS) return window;
  }
}

/** The same without the machinery for waiting, in the commonest case: no cursors, and all it takes is there. */
export function windowAtOnce(request: WindowRequest, need: Need, reading: Reading<unknown>) {
  const total = reading.total();
  if (request.after || request.before || total === undefined || !reading.isSteady())
    return undefined;
  const window = windowOf(request, { low: 0, high: Infinity }, total);
  const isRead = (page: number) => reading.page(page) !== undefined;
  return pagesNeeded(window, need).every(isRead) ? window : undefined;
}

/**
 * The list's length, once the pages read agree on it. Pages that don't were read while the list changed, or one of them
 * comes from the cache: the odd ones are read again.
 */
export function* settledTotal(wanted: readonly number[], reading: Reading<unknown>): Steps<number> {
  for (;;) {
    const odd = reading.dropOdd();
    if (odd.length === 0) break;
    yield* got(reading.read(odd.filter((page) => wanted.includes(page))));
  }
  // Every page read was gone: only page one is there as long as the list is.
  if (reading.total() === undefined) yield* got(reading.read([1]));
  return reading.total() ?? 0;
}

function* cutAt(
  side: 'after' | 'before',
  place: Place | undefined,
  open: number,
  reading: Reading<unknown>,
): Steps<number> {
  if (place === undefined) return open;
  for (;;) {
    const sight = sightOf(place, reading);
    const pages = pagesToSearch(place, sight, reading);
    if (pages.length === 0) return cutOf(place, side, sight, reading);
    yield* got(reading.read(pages, { fresh: true }));
  }
}
