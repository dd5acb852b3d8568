import type { Job } from './load.ts';

export type Bounds = Pick<Job, 'connections' | 'durationMs' | 'maxCount'>;

/** Signed webhooks, from the `from`th event on. */
export const webhookJob = (url: string, from: number, bounds: Bounds): Job => ({
  url,
  path: '/webhooks',
  headers: {},
  workload: 'K',
  mode: 'uncached',
  from,
  ...bounds,
});
