import { answerOf } from '../answers.ts';
import type { Bench } from '../bench.ts';
import type { Figure } from '../figures.ts';
import type { Burst } from '../load.ts';
import { inTurn, openTargets } from '../targets.ts';
import type { Workload } from '../workloads.ts';
import { openHarderCases } from './harder.ts';
import { type Round, type Rounds, figuresOf } from './request-figures.ts';
import type { Contender, Row } from './request-row.ts';

const ROWS: readonly Row[] = [
  { mode: 'hot', workload: 'W1', goal: 0.58, harder: 'clinic viewer' },
  { mode: 'hot', workload: 'W2S', goal: 0.58 },
  { mode: 'hot', workload: 'W2', goal: 0.58 },
  { mode: 'executed', workload: 'W1', goal: 0.4, harder: 'clinic viewer' },
  { mode: 'executed', workload: 'W2S', goal: 0.06, harder: 'ids' },
  { mode: 'executed', workload: 'W2' },
  { mode: 'uncached', workload: 'W1', goalOfDispatch: 0.6 },
  { mode: 'uncached', workload: 'W2', goalOfDispatch: 0.66, harder: 'ids' },
];

const CONNECTIONS: Readonly<Record<Workload, number>> = { W1: 16, W2S: 8, W2: 4 };
const MAX_COUNT = 20_000;
const TRIES = 4;

/** hot, executed and uncached: CPU a request against the raw limit of each. */
export async function requestRows(bench: Bench): Promise<readonly Figure[]> {
  const rows = ROWS.filter(
    ({ mode, workload }) => bench.wants(mode) && (process.env['W'] ?? workload) === workload,
  );
  if (rows.length === 0) return [];
  await using opened = await openTargets(bench);
  const [gateway, ...others] = opened.targets;
  const harderOf = await openHarderCases(gateway);

  const figures: Figure[] = [];
  for (const row of rows) {
    bench.say(`${row.mode} ${row.workload}`);
    const taking = others.filter(({ name }) => takesPart(name, row, bench.quick));
    const contenders = [gateway, ...harderOf(row), ...taking];
    figures.push(...figuresOf(row, await interleaved(bench, contenders, row)));
  }
  return figures;
}

/**
 * Peers cache no whole responses, so hot is executed for them: a quick run measures it once. Mesh has no cache here
 * at all.
 */
function takesPart(name: string, { mode }: Row, quick: boolean): boolean {
  if (mode === 'uncached') return name !== 'raw';
  if (name === 'request' || name === 'dispatch' || name === 'mesh') return false;
  return !quick || mode === 'executed' || name === 'raw';
}

async function interleaved(
  bench: Bench,
  contenders: readonly Contender[],
  row: Row,
): Promise<Rounds> {
  const rounds = new Map<Contender, Round[]>(contenders.map((each) => [each, []]));
  // The gateway is warm when a harder case of it comes: only what is new to it has to be compiled.
  for (const each of contenders)
    await burst(bench, each, row, each.isHarder ? bench.warmUpMs / 3 : bench.warmUpMs);
  for (let i = 0; i < bench.rounds; i += 1)
    for (const each of inTurn(contenders, i))
      rounds.get(each)?.push(await measure(bench, each, row));
  return rounds;
}

async function measure(bench: Bench, target: Contender, row: Row): Promise<Round> {
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
  { child, path, headers, answerBytes, hasIds }: Contender,
  row: Row,
  durationMs: number,
): Promise<Burst> {
  const { workload } = row;
  const done = await bench.loader.run({
    url: child.url,
    path: path(workload),
    headers,
    workload,
    mode: row.mode,
    hasIds,
    answerBytes: answerBytes[workload],
    from: next,
    connections: CONNECTIONS[workload],
    durationMs,
    maxCount: MAX_COUNT,
  });
  next += done.count;
  return done;
}
