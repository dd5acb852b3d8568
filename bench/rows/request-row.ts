import type { Target } from '../targets.ts';
import type { Mode, Workload } from '../workloads.ts';

export interface Row {
  readonly mode: Mode;
  readonly workload: Workload;
  /** At least this much of the base, by CPU a request. */
  readonly goal?: number;
  /** And of what is written by hand for speed. */
  readonly goalOfDispatch?: number;
  /** A case of it that is measured beside it. */
  readonly harder?: 'clinic viewer' | 'ids';
}

/** Who takes part in a row: a target, or the gateway once more in a case that is harder for it. */
export interface Contender extends Target {
  readonly isHarder?: boolean;
  /** Whether the `id` of every record is selected too. */
  readonly hasIds?: boolean;
}
