import { type Figure, median, megabytes, ratioOf } from '../figures.ts';
import type { Burst } from '../load.ts';
import type { TargetName } from '../targets.ts';
import { UPSTREAM_CALLS } from '../workloads.ts';
import type { Contender, Row } from './request-row.ts';

export interface Round extends Burst {
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  readonly upstreamCalls: number;
  readonly rssBytes: number;
}

export type Rounds = ReadonlyMap<Contender, readonly Round[]>;

/** What stands for 1 in a row: the same bytes from `node:http`, or the same calls written by hand. */
const baseOf = ({ mode }: Row): TargetName => (mode === 'uncached' ? 'request' : 'raw');

const roundsOf = (wanted: TargetName, rounds: Rounds): readonly Round[] | undefined =>
  [...rounds].find(([{ name }]) => name === wanted)?.[1];

const cpuOf = ({ cpuUs }: Round): number => cpuUs;

export function figuresOf(row: Row, rounds: Rounds): readonly Figure[] {
  const base = roundsOf(baseOf(row), rounds);
  if (!base) throw new Error(`${baseOf(row)} must take part in ${row.mode}, but did not`);
  const byDispatch = roundsOf('dispatch', rounds);
  const gateway = roundsOf('gateway', rounds);
  return [...rounds].flatMap(([{ name, isHarder }, own]) => {
    const figure = figureOf(row, name, own, base);
    if (isHarder && gateway) return [figure, ofGateway(row, name, own, gateway)];
    if (name !== 'gateway') return [figure];
    return [
      { ...figure, ...verdictOf(row, figure, own) },
      ...(byDispatch ? [ofDispatch(row, own, byDispatch)] : []),
    ];
  });
}

function figureOf(
  { mode, workload }: Row,
  target: string,
  own: readonly Round[],
  base: readonly Round[],
): Figure & { readonly ratio: number } {
  const mainThreadUs = median(own.map((round) => round.mainThreadUs));
  return {
    row: `${mode} ${workload}`,
    target,
    ...ratioOf(base, own, cpuOf),
    cpuUs: median(own.map(cpuOf)),
    perSecond: median(own.map(({ count, seconds }) => count / seconds)),
    upstreamCalls: median(own.map(({ upstreamCalls, count }) => upstreamCalls / count)),
    memoryMb: megabytes(own.at(-1)?.rssBytes ?? 0),
    mainThreadUs,
    note: `${mainThreadUs.toFixed(0)} µs main thread`,
  };
}

function verdictOf(
  { mode, workload, goal }: Row,
  { ratio }: { ratio: number },
  own: readonly Round[],
) {
  if (goal === undefined) return {};
  const fewest = mode === 'uncached' ? UPSTREAM_CALLS[workload] : 0;
  const hasFewest = own.every(({ upstreamCalls, count }) => upstreamCalls === count * fewest);
  return { goal: `≥ ${goal}, ${fewest} calls`, met: ratio >= goal && hasFewest };
}

/** At most as much of the CPU of the same row without what makes it harder. */
const LIMITS = { 'clinic viewer': 1.3, ids: 1.1 } as const;

/** A harder case against the same row without it. A cached answer is cached in either case. */
function ofGateway(
  { mode, workload, harder }: Row,
  target: string,
  own: readonly Round[],
  gateway: readonly Round[],
): Figure {
  const compared = ratioOf(own, gateway, cpuOf);
  const limit = harder && mode !== 'hot' ? LIMITS[harder] : undefined;
  return {
    row: `${mode} ${workload}, of gateway`,
    target,
    ...compared,
    ...(limit !== undefined && { goal: `≤ ${limit}`, met: compared.ratio <= limit }),
  };
}

/** The gateway against the faster of the two that are written by hand. */
function ofDispatch(
  { mode, workload, goalOfDispatch: goal }: Row,
  own: readonly Round[],
  byDispatch: readonly Round[],
): Figure {
  const compared = ratioOf(byDispatch, own, cpuOf);
  return {
    row: `${mode} ${workload}, of dispatch`,
    target: 'gateway',
    ...compared,
    ...(goal !== undefined && { goal: `≥ ${goal}`, met: compared.ratio >= goal }),
  };
}
