import type { Plot } from '../growth/plot.ts';
import { type Compared, compare } from './compare.ts';
import { type Figures, type FiguresFile, valuesOf } from './figures.ts';
import { LOADS, operationsAlone, webhooksAlone } from './load.ts';
import { percent, rounded, signed, table } from './markdown.ts';
import { SIZES, WIDE } from './sections.ts';
import { simulate } from './simulate.ts';
import type { UpstreamLimits } from './upstream-gate.ts';

const SEED = 1;

export interface SimulatedSections {
  readonly sections: ReadonlyMap<string, string>;
  readonly plots: readonly Plot[];
}

/** The arithmetic against the simulation, and the simulation against what real processes did. Takes minutes. */
export function simulatedSections(
  file: FiguresFile,
  say: (line: string) => void,
): SimulatedSections {
  const f = valuesOf(file);
  const compared = new Map<string, readonly Compared[]>();
  for (const [name, load] of Object.entries(LOADS))
    compared.set(
      name,
      SIZES.map((n) => {
        say(`${name}, ${n}`);
        return compare(load, n, f, WIDE, SEED);
      }),
    );
  const control = controlsOf(f).map(([name, figures, upstream]) => {
    say(`operations a second, ${name}`);
    return [name, [compare(operationsAlone, 4, figures, upstream, SEED)]] as const;
  });
  return {
    sections: new Map([
      ['simulation', comparedTable(compared)],
      ['control', comparedTable(new Map(control))],
      ['operations', operationsTable(file)],
      ['reality', realityTable(file, f)],
    ]),
    plots: [...compared].map(([name, all], i) => plotOf(name, all, i)),
  };
}

/** What the arithmetic leaves out, taken out of the simulation as well: one at a time, and both. */
function controlsOf(f: Figures): readonly (readonly [string, Figures, UpstreamLimits])[] {
  const together = { ...WIDE, variation: 0.02 };
  const short = { ...f, gcPause: 500 };
  return [
    ['calls that all take the same', f, together],
    ['pauses of half a millisecond', short, WIDE],
    ['both', short, together],
  ];
}

const ms = (us: number): string => rounded(us / 1_000);

function comparedTable(compared: ReadonlyMap<string, readonly Compared[]>): string {
  const rows = [...compared].flatMap(([name, all]) =>
    all.map((each) => [
      name,
      String(each.instances),
      `${rounded(each.computed)} (${each.computedPart})`,
      `${rounded(each.busy)} (${each.busyPart})`,
      signed(each.busy / each.computed - 1),
      `${ms(each.judgedUs)} of ${ms(each.boundUs)}`,
      rounded(each.punctual),
      signed(each.punctual / each.computed - 1),
    ]),
  );
  const headings = ['instances', 'arithmetic', 'simulated: 60 % busy', 'differs', 'p99 ms, of'];
  return table(['', ...headings, 'simulated: p99 reached', 'differs'], rows);
}

/** One instance with as many operations as it takes: the other core is the loader's. */
function operationsTable({ reality }: FiguresFile): string {
  const rows = reality.map(({ what, perSecond, mainThreadUs }) => [
    what,
    rounded(perSecond),
    rounded(1e6 / mainThreadUs),
    percent((perSecond * mainThreadUs) / 1e6),
  ]);
  return table(['one instance', 'a second', '1 ÷ S', 'busy, so'], rows);
}

/** 32 connections to the first instance: with a core for every thread, and with those there are. */
function realityTable({ redis, cores }: FiguresFile, f: Figures): string {
  const rows = redis
    .filter(({ connections }) => connections > 1)
    .map(({ instances, connections, perSecond, allUs }) => {
      const load = webhooksAlone(0);
      const run = { load, instances, figures: f, seed: SEED, seconds: 20, upstream: WIDE };
      const { acknowledgedPerSecond } = simulate({ ...run, connections });
      const bound = (cores * 1e6) / allUs;
      const expected = Math.min(bound, acknowledgedPerSecond);
      return [
        String(instances),
        rounded(perSecond),
        rounded(acknowledgedPerSecond),
        rounded(bound),
        signed(perSecond / expected - 1),
      ];
    });
  const headings = ['measured', 'simulated, a core each', `${cores} cores ÷ all CPU`, 'differs'];
  return table(['instances', ...headings], rows);
}

function plotOf(name: string, all: readonly Compared[], number: number): Plot {
  const points = (of: 'computed' | 'busy') =>
    all.map((each) => [each.instances, each[of]] as const);
  return {
    name: `capacity-${['operations', 'webhooks', 'events', 'clinicians'][number] ?? number}`,
    title: `What instances on one Redis hold: ${name}`,
    x: 'instances',
    y: name,
    series: [
      { name: 'by arithmetic', points: points('computed') },
      { name: 'simulated', points: points('busy') },
    ],
  };
}
