import { answerOf } from '../answers.ts';
import type { Bench } from '../bench.ts';
import { type Figure, median, spread } from '../figures.ts';
import type { Burst } from '../load.ts';
import { type Target, type TargetName, inTurn, openTargets } from '../targets.ts';
import { type Mode, UPSTREAM_CALLS, type Workload } from '../workloads.ts';

interface Row {
  readonly mode: Mode;
  readonly workload: Workload;
  /** At least this much of the base, by CPU a request. */
  readonly goal?: number;
}

const ROWS: readonly Row[] = [
  { mode: 'hot', workload: 'W1', goal: 0.7 },
  { mode: 'hot', workload: 'W2S', goal: 0.8 },
  { mode: 'hot', workload: 'W2', goal: 0.8 },
  { mode: 'executed', workload: 'W1', goal: 0.4 },
  { mode: 'executed', workload: 'W2S', goal: 0.08 },
  { mode: 'executed', workload: 'W2' },
  { mode: 'uncached', workload: 'W1', goal: 0.85 },
  { mode: 'uncached', workload: 'W2', goal: 0.9 },
];

/** What stands for 1 in a row: the same bytes from `node:http`, or the same calls written by hand. */
const baseOf = (mode: Mode): TargetName => (mode === 'uncached' ? 'request' : 'raw');
const CONNECTIONS: Readonly<Record<Workload, number>> = { W1: 16, W2S: 8, W2: 4 };
const MAX_COUNT = 20_000;
const TRIES = 4;

interface Round extends Burst {
  readonly cpuUs: number;
  readonly mainThreadUs: number;
  readonly upstreamCalls: number;
  readonly rssBytes: number;
}

/** hot, executed and uncached: CPU a request against the raw limit of each. */
export async function requestRows(bench: Bench): Promise<readonly Figure[]> {
  const rows = ROWS.filter(({ mode }) => bench.wants(mode));
  if (rows.length === 0) return [];
  await using opened = await openTargets(bench);

  const figures: Figure[] = [];
  for (const row of rows) {
    bench.say(`${row.mode} ${row.workload}`);
    const targets = opened.targets.filter(({ name }) => takesPart(name, row, bench.quick));
    const rounds = await interleaved(bench, targets, row);
    figures.push(...figuresOf(row, targets, rounds));
  }
  return figures;
}

/**
 * Peers remember no answers, so that hot is executed for them: a quick run measures it once. Mesh has no cache here
 * at all.
 */
function takesPart(name: string, { mode }: Row, quick: boolean): boolean {
  if (mode === 'uncached') return name !== 'raw';
  if (name === 'request' || name === 'dispatch' || name === 'mesh') return false;
  return !quick || mode === 'executed' || name === 'gateway' || name === 'raw';
}

async function interleaved(
  bench: Bench,
  targets: readonly Target[],
  row: Row,
): Promise<ReadonlyMap<Target, readonly Round[]>> {
  const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
  for (const target of targets) await burst(bench, target, row, bench.warmUpMs);
  for (let i = 0; i < bench.rounds; i += 1)
    for (const target of inTurn(targets, i))
      rounds.get(target)?.push(await measure(bench, target, row));
  return rounds;
}

async function measure(bench: Bench, target: Target, row: Row): Promise<Round> {
  for (let i = 1; ; i += 1) {
    if (row.mode !== 'uncached') await answerOf(target, row.workload);
    const before = await target.child.usage();
    const callsBefore = await bench.upstream.calls();
    const done = await burst(bench, target, row, bench.roundMs);
    const upstreamCalls = (await bench.upstream.calls()) - callsBefore;
    const after = await target.child.usage();
    if (done.failures > 0)
      throw new Error(`${target.name} failed ${done.failures} of ${done.count} requests`);
    // Five seconds ended in the middle of the round: that was not the row's case.
    if (row.mode !== 'uncached' && upstreamCalls > 0 && i < TRIES) continue;
    const cpuUs = (after.cpuUs - before.cpuUs) / done.count;
    const mainThreadUs = (after.mainThreadUs - before.mainThreadUs) / done.count;
    return { ...done, cpuUs, mainThreadUs, upstreamCalls, rssBytes: after.rssBytes };
  }
}

let next = 0;

async function burst(
  bench: Bench,
  { child, path, headers, answerBytes }: Target,
  { workload, mode }: Row,
  durationMs: number,
): Promise<Burst> {
  const done = await bench.loader.run({
    url: child.url,
    path: path(workload),
    headers,
    workload,
    mode,
    answerBytes: answerBytes[workload],
    from: next,
    connections: CONNECTIONS[workload],
    durationMs,
    maxCount: MAX_COUNT,
  });
  next += done.count;
  return done;
}

function figuresOf(
  row: Row,
  targets: readonly Target[],
  rounds: ReadonlyMap<Target, readonly Round[]>,
): readonly Figure[] {
  const base = targets.find(({ name }) => name === baseOf(row.mode));
  const baseRounds = (base && rounds.get(base)) ?? [];
  return targets.map((target) => {
    const own = rounds.get(target) ?? [];
    const ratios = own.map(({ cpuUs }, i) => (baseRounds[i]?.cpuUs ?? Number.NaN) / cpuUs);
    const ratio = median(ratios);
    const isJudged = target.name === 'gateway' && row.goal !== undefined;
    const mainThreadUs = median(own.map((round) => round.mainThreadUs));
    return {
      row: `${row.mode} ${row.workload}`,
      target: target.name,
      ratio,
      spread: spread(ratios),
      cpuUs: median(own.map(({ cpuUs }) => cpuUs)),
      perSecond: median(own.map(({ count, seconds }) => count / seconds)),
      upstreamCalls: median(own.map(({ upstreamCalls, count }) => upstreamCalls / count)),
      memoryMb: (own.at(-1)?.rssBytes ?? 0) / 2 ** 20,
      mainThreadUs,
      note: `${mainThreadUs.toFixed(0)} µs main thread`,
      ...(isJudged && {
        goal: `≥ ${row.goal}${callsGoal(row)}`,
        met: ratio >= (row.goal ?? 0) && hasFewCalls(row, own),
      }),
    };
  });
}

const fewestCalls = ({ mode, workload }: Row): number =>
  mode === 'uncached' ? UPSTREAM_CALLS[workload] : 0;
const callsGoal = (row: Row): string => `, ${fewestCalls(row)} calls`;
const hasFewCalls = (row: Row, rounds: readonly Round[]): boolean =>
  rounds.every(({ upstreamCalls, count }) => upstreamCalls === count * fewestCalls(row));
