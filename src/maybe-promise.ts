/** A value, or a promise if no cache has it. Awaiting each value would cost every field a promise. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Applies `next` to the value: synchronously if it is available, later if it is a promise. Unlike with Envelop's function
 * of this name, what else `next` needs can be passed along, so that a list creates no function for each of its rows.
 */
export const mapMaybePromise = <T, U, A, B>(
  value: MaybePromise<T>,
  next: (value: T, first: A, second: B) => MaybePromise<U>,
  first?: A,
  second?: B,
): MaybePromise<U> =>
  value instanceof Promise
    ? value.then((resolved) => next(resolved, first!, second!))
    : next(value, first!, second!);
