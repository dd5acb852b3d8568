import { HEADROOM, instancePieces, residueUs, waitUs } from './arithmetic.ts';
import type { Figures } from './figures.ts';
import type { Load } from './load.ts';

/** What p99 should stay within. */
export interface Bounds {
  /** Until an instance begins with what has come in: what the formula says for 60 %. */
  readonly waitUs: number;
  /** Until a webhook is answered, where Redis is what is full: senders wait for seconds. */
  readonly acknowledgedUs: number;
}

export const boundsOf = (load: Load, n: number, f: Figures): Bounds => ({
  waitUs: waitUs(residueUs(instancePieces(load, n, f), f), HEADROOM),
  acknowledgedUs: 250_000,
});
