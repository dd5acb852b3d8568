import type { Agenda } from './agenda.ts';

/** Redis' one thread: takes all that waits, flushes once if anything was written, then answers them all. */
export interface RedisLoop {
  readonly busyUs: number;
  readonly flushUs: number;
  write(workUs: number, done: () => void): void;
  read(workUs: number, done: () => void): void;
}

interface Command {
  readonly workUs: number;
  readonly isWrite: boolean;
  readonly done: () => void;
}

export function createRedisLoop(
  agenda: Agenda,
  flush: () => number,
  isMeasured: () => boolean,
): RedisLoop {
  let waiting: Command[] = [];
  let isBusy = false;
  let busyUs = 0;
  let flushUs = 0;

  function round(): void {
    const commands = waiting;
    waiting = [];
    isBusy = commands.length > 0;
    if (!isBusy) return;
    const workUs = commands.reduce((sum, command) => sum + command.workUs, 0);
    const flushed = commands.some(({ isWrite }) => isWrite) ? flush() : 0;
    if (isMeasured()) {
      busyUs += workUs;
      flushUs += flushed;
    }
    agenda.after(workUs + flushed, () => {
      for (const { done } of commands) done();
      round();
    });
  }

  function send(workUs: number, isWrite: boolean, done: () => void): void {
    waiting.push({ workUs, isWrite, done });
    if (!isBusy) round();
  }

  return {
    get busyUs() {
      return busyUs;
    },
    get flushUs() {
      return flushUs;
    },
    write: (workUs, done) => send(workUs, true, done),
    read: (workUs, done) => send(workUs, false, done),
  };
}
