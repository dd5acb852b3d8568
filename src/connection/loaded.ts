import type { Loaded } from '../loaded.ts';

export type { Loaded } from '../loaded.ts';

/** A procedure that waits with `yield* got(…)` where an async function would `await`. */
export type Steps<R> = Generator<Promise<unknown>, R, unknown>;

export function* got<T>(loaded: Loaded<T>): Steps<T> {
  if (!(loaded instanceof Promise)) return loaded;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `run` sends in what the promise yielded here became
  return (yield loaded) as T;
}

/** Runs to the end at once as long as nothing has to be waited for; only then it becomes a promise. */
export function run<R>(steps: Steps<R>): Loaded<R> {
  const step = steps.next();
  return step.done === true ? step.value : resume(steps, step.value);
}

async function resume<R>(steps: Steps<R>, pending: Promise<unknown>): Promise<R> {
  for (let waitingFor = pending; ;) {
    const step = await waitingFor.then(
      (value) => () => steps.next(value),
      (error: unknown) => () => steps.throw(error),
    );
    const result = step();
    if (result.done === true) return result.value;
    waitingFor = result.value;
  }
}

/** Lets one procedure in at a time, in order of arrival, at once if nobody is inside. A failure doesn't stop the next. */
export function createTurns() {
  let busy: Promise<void> | undefined;

  return function inTurn<R>(work: () => Loaded<R>): Loaded<R> {
    const result = busy === undefined ? work() : busy.then(work);
    if (!(result instanceof Promise)) return result;
    const leave = () => {
      if (busy === left) busy = undefined;
    };
    const left: Promise<void> = result.then(leave, leave);
    busy = left;
    return result;
  };
}
