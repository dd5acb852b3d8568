import type { Agenda } from './agenda.ts';
import type { Samples } from './samples.ts';

/** One thread with a queue in front of it: Node's event loop, as far as capacity is concerned. */
export interface Thread {
  readonly busyUs: number;
  /** Work that takes so long; `done` at its end. */
  submit(workUs: number, done?: () => void): void;
  /** The same for what came from outside: how long that waits for its turn is counted. */
  admit(workUs: number, done?: () => void): void;
}

interface Work {
  readonly workUs: number;
  readonly since: number;
  readonly done: (() => void) | undefined;
  readonly isCounted: boolean;
}

export function createThread(agenda: Agenda, isMeasured: () => boolean, waits: Samples): Thread {
  let queue: Work[] = [];
  let head = 0;
  let isBusy = false;
  let busyUs = 0;

  function next(): void {
    const work = queue[head];
    if (!work) {
      queue = [];
      head = 0;
      isBusy = false;
      return;
    }
    head += 1;
    if (head > 1_024) {
      queue = queue.slice(head);
      head = 0;
    }
    isBusy = true;
    if (isMeasured()) {
      if (work.isCounted) waits.add(agenda.now - work.since);
      busyUs += work.workUs;
    }
    agenda.after(work.workUs, () => {
      work.done?.();
      next();
    });
  }

  function add(workUs: number, isCounted: boolean, done?: () => void): void {
    queue.push({ workUs, since: agenda.now, done, isCounted });
    if (!isBusy) next();
  }

  return {
    get busyUs() {
      return busyUs;
    },
    submit: (workUs, done) => add(workUs, false, done),
    admit: (workUs, done) => add(workUs, true, done),
  };
}
