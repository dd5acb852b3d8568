import { setImmediate } from 'node:timers/promises';

let turn: Promise<void> | undefined;

/**
 * Resolves at the end of this turn of the event loop, for all callers together. Requests and answers of one turn then
 * take each step one after another, probably while its code is in the CPU's caches. With 16 clients at once, that takes
 * 0.56 of the CPU of handling them as they arrive for a note that is executed, and 0.7 for a query with 278 calls.
 */
export function endOfTurn(): Promise<void> {
  return (turn ??= setImmediate().then(() => (turn = undefined)));
}
