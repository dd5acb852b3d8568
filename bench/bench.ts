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
  /** Before the first round: what is slow in the beginning is the compiler's doing. */
  readonly warmUpMs: number;
  /** A directory for the gateway's CPU profiles. */
  readonly profileDir: string | undefined;
  wants(row: RowName): boolean;
  say(line: string): void;
}
