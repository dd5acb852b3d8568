import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { askChild } from './ask-child.ts';
import type { Burst, Job } from './load.ts';

export interface Loader extends Disposable {
  run(job: Job): Promise<Burst>;
}

/** The load comes from a process of its own: its work must not wait for the run's, nor be counted as a target's. */
export function openLoader(): Loader {
  const child = fork(fileURLToPath(new URL('load.ts', import.meta.url)));
  return {
    run: (job) => askChild<Burst>(child, job, 'the load'),
    [Symbol.dispose]: () => void child.kill(),
  };
}
