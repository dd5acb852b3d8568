type Action = () => void;

/** The clock of the simulation, in microseconds, and what happens when. Actions of the same time run in the order they were added. */
export type Timeline = ReturnType<typeof createTimeline>;

/** A binary heap. */
export function createTimeline() {
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

  function siftUp(at: number): void {
    for (let child = at; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!isBefore(child, parent)) return;
      swap(child, parent);
      child = parent;
    }
  }

  function siftDown(): void {
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
    siftDown();
    return action;
  }

  return {
    get now() {
      return now;
    },
    after(delayUs: number, action: Action): void {
      times.push(now + delayUs);
      orders.push((order += 1));
      actions.push(action);
      siftUp(times.length - 1);
    },
    run(untilUs: number): void {
      while (times.length > 0 && times[0]! <= untilUs) next()?.();
    },
  };
}

export type Random = ReturnType<typeof createRandom>;

/** Mulberry32: the same seed gives the same run. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  /** From 0 up to, not including, 1. */
  function uniform(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const normal = (): number =>
    Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  return {
    uniform,
    exponential: (mean: number): number => -mean * Math.log(1 - uniform()),
    /** The standard deviation is `variation` × the mean. */
    lognormal(mean: number, variation: number): number {
      const variance = Math.log(1 + variation ** 2);
      return mean * Math.exp(Math.sqrt(variance) * normal() - variance / 2);
    },
  };
}

/** What is measured, after the warm-up. */
export interface Recorder {
  readonly isOn: () => boolean;
  /** How long requests wait for their instance. */
  readonly waits: number[];
}

export type Thread = ReturnType<typeof createThread>;

/** One thread with a queue: the event loop of an instance. */
export function createThread(timeline: Timeline, { isOn, waits }: Recorder) {
  let queue: { workUs: number; since: number; isRequest: boolean; done: Action | undefined }[] = [];
  let head = 0;
  let isBusy = false;
  let busyUs = 0;

  function next(): void {
    const work = queue[head];
    isBusy = work !== undefined;
    if (!work || head > 1_024) {
      queue = queue.slice(head);
      head = 0;
    }
    if (!work) return;
    head += 1;
    if (isOn()) {
      if (work.isRequest) waits.push(timeline.now - work.since);
      busyUs += work.workUs;
    }
    timeline.after(work.workUs, () => {
      work.done?.();
      next();
    });
  }

  function add(workUs: number, isRequest: boolean, done?: Action): void {
    queue.push({ workUs, since: timeline.now, isRequest, done });
    if (!isBusy) next();
  }

  return {
    get busyUs() {
      return busyUs;
    },
    run: (workUs: number, done?: Action) => add(workUs, false, done),
    /** For work that a client waits for: its waiting time is recorded. */
    runRequest: (workUs: number, done?: Action) => add(workUs, true, done),
  };
}

interface Command {
  /** Runs the command. Returns the microseconds it takes. */
  readonly run: () => number;
  readonly isWrite: boolean;
  readonly done: Action;
}

export type Redis = ReturnType<typeof createRedis>;

/** Redis runs all commands that wait, flushes once if one of them was a write, then answers them all. */
export function createRedis(timeline: Timeline, flushUs: () => number, { isOn }: Recorder) {
  let waiting: Command[] = [];
  let isBusy = false;
  let busyUs = 0;

  function round(): void {
    const commands = waiting;
    waiting = [];
    isBusy = commands.length > 0;
    if (!isBusy) return;
    const workUs = commands.reduce((sum, { run }) => sum + run(), 0);
    if (isOn()) busyUs += workUs;
    const flushed = commands.some(({ isWrite }) => isWrite) ? flushUs() : 0;
    timeline.after(workUs + flushed, () => {
      for (const { done } of commands) done();
      round();
    });
  }

  return {
    /** Without the flushes. */
    get busyUs() {
      return busyUs;
    },
    send(command: Command): void {
      waiting.push(command);
      if (!isBusy) round();
    },
  };
}
