/** A value, or a promise if no cache has it. Awaiting each value would cost every field a promise. */
export type Loaded<T> = T | Promise<T>;

/**
 * Applies `next` to the value: synchronously if it is available, later if it is a promise. What else `next` needs can be
 * passed along, so that a list creates no function for each of its rows.
 */
export const whenLoaded = <T, U, A, B>(
  loaded: Loaded<T>,
  next: (value: T, first: A, second: B) => Loaded<U>,
  first?: A,
  second?: B,
): Loaded<U> =>
  loaded instanceof Promise
    ? loaded.then((value) => next(value, first!, second!))
    : next(loaded, first!, second!);
