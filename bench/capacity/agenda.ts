type Action = () => void;

/** What is to happen, in the order of its time. Times are microseconds since the beginning. */
export interface Agenda {
  readonly now: number;
  after(delayUs: number, action: Action): void;
  /** Until nothing is left, or the time is up. */
  run(untilUs: number): void;
}

/** A binary heap. What is for the same moment happens in the order it was asked for. */
export function createAgenda(): Agenda {
  const times: number[] = [];
  const orders: number[] = [];
  const actions: Action[] = [];
  let now = 0;
  let order = 0;

  const isBefore = (a: number, b: number): boolean =>
    times[a]! < times[b]! || (times[a] === times[b] && orders[a]! < orders[b]!);

  function swap(a: number, b: number): void {
    [times[a], times[b]] = [times[b]!, times[a]!];
    [orders[a], orders[b]] = [orders[b]!, orders[a]!];
    [actions[a], actions[b]] = [actions[b]!, actions[a]!];
  }

  function rise(at: number): void {
    for (let child = at; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  }

  function sink(): void {
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      if (left >= times.length) return;
      const right = left + 1;
      const child = right < times.length && isBefore(right, left) ? right : left;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      parent = child;
    }
  }

  function next(): Action | undefined {
    swap(0, times.length - 1);
    now = times.pop() ?? now;
    orders.pop();
    const action = actions.pop();
    sink();
    return action;
  }

  return {
    get now() {
      return now;
    },
    after(delayUs, action) {
      times.push(now + delayUs);
      orders.push((order += 1));
      actions.push(action);
      rise(times.length - 1);
    },
    run(untilUs) {
      while (times.length > 0 && times[0]! <= untilUs) next()?.();
    },
  };
}
