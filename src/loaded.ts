/** A value, or a promise if no cache has it. Awaiting each value would cost every field a promise. */
export type Loaded<T> = T | Promise<T>;

/** Applies `next` to the value: synchronously if it is available, later if it is a promise. */
export const whenLoaded = <T, U>(loaded: Loaded<T>, next: (value: T) => Loaded<U>): Loaded<U> =>
  loaded instanceof Promise ? loaded.then(next) : next(loaded);
