import type { Plot } from '../growth/plot.ts';
import { HEADROOM, SOCKETS_OF_AN_INSTANCE, capacityOf } from './arithmetic.ts';
import type { Figures, FiguresFile } from './figures.ts';
import { LOADS, type Load, webhooksOnly } from './load.ts';
import { type Simulated, simulate } from './simulate.ts';
import { SIZES, percent, rounded, table } from './tables.ts';

interface Compared {
  readonly instances: number;
  readonly computed: number;
  /** The highest load at which no part is used more than 60 %. */
  readonly simulated: number;
  /** At the computed load. */
  readonly at: Simulated;
}

/** Enough for a p99 that is the same with another seed. */
const ARRIVALS = 100_000;
const [MIN_SECONDS, MAX_SECONDS] = [4, 60];
const MAX_STEPS = 5;
const PRECISION = 0.01;

function compare(loadOf: (amount: number) => Load, instances: number, figures: Figures): Compared {
  const { amount: computed } = capacityOf(loadOf, instances, figures);
  const run = (amount: number): Simulated => {
    const load = loadOf(amount);
    const arrivals = load.operations + load.webhooks * Math.sqrt(instances);
    const seconds = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, ARRIVALS / arrivals));
    return simulate({ load, instances, figures, seconds });
  };
  const at = run(computed);
  let simulated = computed;
  let use = Math.max(at.instanceUse, at.redisUse);
  // Utilization is nearly proportional to the load, so this converges in a few steps.
  for (let i = 0; i < MAX_STEPS && Math.abs(use / HEADROOM - 1) > PRECISION; i += 1) {
    const next = (simulated * HEADROOM) / use;
    // Sockets are the limit, as in the arithmetic.
    if (loadOf(next).subscribers > SOCKETS_OF_AN_INSTANCE * instances) break;
    simulated = next;
    const { instanceUse, redisUse } = run(simulated);
    use = Math.max(instanceUse, redisUse);
  }
  return { instances, computed, simulated, at };
}

const signed = (share: number): string => `${share >= 0.005 ? '+' : ''}${percent(share)}`;

/** Operations wait for their instance; where there are none, webhooks for their answer. */
const waitMs = ({ waitUs, answeredUs }: Simulated, load: Load): string =>
  `${rounded((load.operations > 0 ? waitUs : answeredUs) / 1_000)} ms`;

function simulationTable(compared: ReadonlyMap<string, readonly Compared[]>): string {
  const cellOf = (name: string, { computed, simulated, at }: Compared): string => {
    const differs = signed(simulated / computed - 1);
    const load = LOADS[name]!(computed);
    return `${rounded(simulated)} (${differs}), ${waitMs(at, load)}`;
  };
  const rows = SIZES.map((n, i) => [
    String(n),
    ...[...compared].map(([name, all]) => cellOf(name, all[i]!)),
  ]);
  return table(['instances', ...compared.keys()], rows);
}

function operationsTable({ bench }: FiguresFile): string {
  const rows = bench.map(({ row, perSecond, mainThreadUs }) => [
    row,
    rounded(perSecond),
    rounded(1e6 / mainThreadUs),
    percent((perSecond * mainThreadUs) / 1e6),
  ]);
  return table(['one instance', 'measured a second', '1 ÷ S', 'utilization'], rows);
}

/** Webhooks over 32 connections: simulated with a core for every thread, and limited by the cores of the machine. */
function processesTable({ redis, cores, figures }: FiguresFile): string {
  const rows = redis
    .filter(({ connections }) => connections > 1)
    .map(({ instances, connections, perSecond, allUs }) => {
      const run = { load: webhooksOnly(0), instances, figures, seconds: 10, connections };
      const { answeredPerSecond } = simulate(run);
      const limit = (cores * 1e6) / allUs;
      return [
        String(instances),
        rounded(perSecond),
        rounded(answeredPerSecond),
        rounded(limit),
        signed(perSecond / Math.min(limit, answeredPerSecond) - 1),
      ];
    });
  const headings = ['measured', 'simulated, a core per thread', `${cores} cores ÷ all CPU`];
  return table(['instances', ...headings, 'differs from the lower one'], rows);
}

/** Only those that the page shows. */
const PLOTS: Readonly<Record<string, string>> = {
  'webhooks a second, no subscribers': 'capacity-webhooks',
  clinicians: 'capacity-clinicians',
};

const plotOf = (name: string, load: string, all: readonly Compared[]): Plot => ({
  name,
  title: `Capacity of instances on one Redis: ${load}`,
  x: 'instances',
  y: load,
  series: (['computed', 'simulated'] as const).map((kind) => ({
    name: kind,
    points: all.map((each) => [each.instances, each[kind]] as const),
  })),
});

/** Compares the arithmetic with a simulation, and both with real processes. */
export function comparisonSections(file: FiguresFile, say: (line: string) => void) {
  const compared = new Map<string, readonly Compared[]>();
  for (const [name, load] of Object.entries(LOADS)) {
    say(`simulating ${name}`);
    compared.set(
      name,
      SIZES.map((n) => compare(load, n, file.figures)),
    );
  }
  return {
    sections: new Map([
      ['simulation', simulationTable(compared)],
      ['operations', operationsTable(file)],
      ['processes', processesTable(file)],
    ]),
    plots: Object.entries(PLOTS).map(([load, name]) =>
      plotOf(name, load, compared.get(load) ?? []),
    ),
  };
}
