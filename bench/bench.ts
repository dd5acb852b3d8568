import type { Loader } from './loader.ts';
import type { RowName } from './options.ts';
import type { TargetName } from './targets.ts';
import type { Upstream } from './upstream-control.ts';

/** What every row is given. */
export interface Bench {
  readonly upstream: Upstream;
  readonly loader: Loader;
  readonly targets: readonly TargetName[];
  readonly quick: boolean;
  readonly rounds: number;
  readonly roundMs: number;
  wants(row: RowName): boolean;
  say(line: string): void;
}
