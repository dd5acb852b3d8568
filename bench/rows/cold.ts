import type { Bench } from '../bench.ts';
import { type Figure, median, megabytes, ratioOf } from '../figures.ts';
import { type Target, inTurn, openTargets } from '../targets.ts';
import { UPSTREAM_CALLS } from '../workloads.ts';

const DELAY_MS = 20;
/** Three levels: what no answer can be faster than. */
const CRITICAL_PATH_MS = 3 * DELAY_MS;
/** Enough for 250 notes at once, for everybody who takes part. */
const CONNECTIONS = '256';
/** A little more than lists and notes are cached for. */
const EXPIRED_MS = 5_300;
const FROM = 5_000_000;
/** Some ten thousand calls: code that is still being compiled would be timed instead of run. */
const WARM_UPS = 40;

interface Round {
  readonly ms: number;
  readonly calls: number;
  readonly cpuUs: number;
  readonly rssBytes: number;
}
type Rounds = ReadonlyMap<Target, readonly Round[]>;

/** cold W2: nothing cached, an upstream that takes its time. Wall time, one request at a time. */
export async function coldRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('cold')) return [];
  bench.say('cold W2');
  const env = { PARTNER_MAX_CONCURRENCY: CONNECTIONS };
  // A quick run leaves most peers out: starting them takes longer than the row.
  const wanted = bench.targets.filter((name) => name !== 'raw');
  const quickly = wanted.filter((name) => name === 'request' || name === 'yoga');
  const targetsOf = { ...bench, targets: bench.quick ? quickly : wanted };
  await using opened = await openTargets(targetsOf, env);
  const pass = async (from: number, count: number): Promise<Rounds> => {
    const targets = opened.targets;
    const rounds = new Map<Target, Round[]>(targets.map((target) => [target, []]));
    for (let i = 0; i < count; i += 1)
      for (const target of inTurn(targets, i))
        rounds.get(target)?.push(await asked(bench, target, from + i));
    return rounds;
  };

  await pass(FROM, WARM_UPS);
  await bench.upstream.setDelay(DELAY_MS);
  try {
    await pass(FROM + 100, 2);
    const unknown = await pass(FROM + 200, bench.rounds);
    await new Promise((resolve) => setTimeout(resolve, EXPIRED_MS));
    const known = await pass(FROM + 200, bench.rounds);
    return [
      ...figuresOf('cold W2, length unknown', unknown, 1.06),
      ...figuresOf('cold W2, length known', known, undefined),
    ];
  } finally {
    await bench.upstream.setDelay(0);
  }
}

async function asked({ loader, upstream }: Bench, target: Target, from: number): Promise<Round> {
  const callsBefore = await upstream.calls();
  const before = await target.child.usage();
  const { seconds, failures } = await loader.run({
    url: target.child.url,
    path: target.path('W2'),
    headers: target.headers,
    workload: 'W2',
    mode: 'uncached',
    answerBytes: target.answerBytes.W2,
    from,
    connections: 1,
    durationMs: 10_000,
    maxCount: 1,
  });
  if (failures > 0) throw new Error(`${target.name} must answer the cold query, but failed`);
  const after = await target.child.usage();
  return {
    ms: seconds * 1_000,
    calls: (await upstream.calls()) - callsBefore,
    cpuUs: after.cpuUs - before.cpuUs,
    rssBytes: after.rssBytes,
  };
}

/** Against the hand-coded aggregator; once the length is known the goal is against the critical path. */
function figuresOf(row: string, rounds: Rounds, goal: number | undefined): readonly Figure[] {
  const byHand = [...rounds].find(([{ name }]) => name === 'request')?.[1];
  if (!byHand) throw new Error('request must take part in cold, but did not');
  return [...rounds].map(([{ name }, own]) => {
    const ms = median(own.map((round) => round.ms));
    const compared = ratioOf(own, byHand, (round) => round.ms);
    const ofPath = ms / CRITICAL_PATH_MS;
    const calls = own.map((round) => round.calls);
    const isJudged = name === 'gateway';
    const isFast = goal === undefined ? ofPath <= 1.5 : compared.ratio <= goal;
    return {
      row,
      target: name,
      ...compared,
      cpuUs: median(own.map((round) => round.cpuUs)),
      ms,
      upstreamCalls: median(calls),
      memoryMb: megabytes(own.at(-1)?.rssBytes ?? 0),
      note: `${ofPath.toFixed(2)} × ${CRITICAL_PATH_MS} ms`,
      ...(isJudged && {
        goal: goal === undefined ? '≤ 1.5 × 60 ms' : `≤ ${goal}, 278 calls`,
        met: isFast && calls.every((count) => count === UPSTREAM_CALLS.W2),
      }),
    };
  });
}
