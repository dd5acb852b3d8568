import { createAgenda } from './agenda.ts';
import type { Figures } from './figures.ts';
import { createInstance } from './instance.ts';
import type { Kind, Load } from './load.ts';
import { createRandom } from './random.ts';
import { createRedisLoop } from './redis-loop.ts';
import { createSamples } from './samples.ts';
import { createSharedLog } from './shared-log.ts';
import { type UpstreamLimits, createUpstream } from './upstream-gate.ts';

export interface Simulated {
  /** Shares of the time: an instance, and Redis without its flushes. */
  readonly instanceUse: number;
  readonly redisUse: number;
  /** p99, in microseconds: what comes from outside waits for its turn in an instance, and a webhook for its answer. */
  readonly waitUs: number;
  readonly acknowledgedUs: number;
  readonly acknowledgedPerSecond: number;
}

export interface Run {
  readonly load: Load;
  readonly instances: number;
  readonly figures: Figures;
  readonly seed: number;
  readonly seconds: number;
  readonly upstream: UpstreamLimits;
  /** Webhooks over so many connections instead, each sent once the one before was answered, and all to one instance. */
  readonly connections?: number;
}

const WARM_UP = 0.1;

function kindOf(mix: readonly Kind[], chance: number): Kind {
  let left = chance;
  const found = mix.find(({ share }) => (left -= share) < 0) ?? mix.at(-1);
  if (!found) throw new Error('a mix must hold at least one kind of operation, but is empty');
  return found;
}

/** Poisson arrivals, dealt to the instances in turn; threads, Redis and the Partner API as the figures have them. */
export function simulate({
  load,
  instances: n,
  figures,
  seed,
  seconds,
  upstream,
  connections = 0,
}: Run): Simulated {
  const agenda = createAgenda();
  const random = createRandom(seed);
  const endUs = seconds * 1e6;
  const isMeasured = () => agenda.now >= endUs * WARM_UP;
  const flush = () => random.lognormal(figures.redisFlush, 1);
  const redis = createRedisLoop(agenda, flush, isMeasured);
  const log = createSharedLog();
  const [waits, acknowledged] = [createSamples(), createSamples()];
  const timer = () => {
    const since = agenda.now;
    return () => void (isMeasured() && acknowledged.add(agenda.now - since));
  };

  // An event for one socket is delivered where that socket is; one for all, everywhere.
  const isForAll = load.recipients >= n;
  const shareOfAll = load.recipients / n;
  const placeOf = (event: number) => Math.floor(createRandom(seed + event).uniform() * n);

  const all = Array.from({ length: n }, (_, number) => {
    const limits = { ...upstream, perSecond: upstream.perSecond / n };
    const instance = createInstance({
      agenda,
      random,
      figures,
      redis,
      log,
      isMeasured,
      waits,
      upstream: createUpstream(agenda, random, limits),
      recipientsOf: (event) =>
        isForAll ? shareOfAll : placeOf(event) === number ? load.recipients : 0,
    });
    log.onGrown(instance.wake);
    return instance;
  });

  function arrivals(perSecond: number, arrive: (number: number) => void): void {
    if (perSecond === 0) return;
    let number = 0;
    const next = () =>
      agenda.after(random.exponential(1e6 / perSecond), () => {
        arrive((number += 1));
        next();
      });
    next();
  }

  arrivals(load.operations, (number) => {
    all[number % n]!.ask(kindOf(load.mix, random.uniform()));
  });
  arrivals(load.webhooks, (number) => {
    all[number % n]!.takeIn(timer());
  });
  const [first] = all;
  const sendNext = (): void => {
    const answered = timer();
    first?.takeIn(() => {
      answered();
      sendNext();
    });
  };
  for (let i = 0; i < connections; i += 1) sendNext();
  agenda.run(endUs);

  const busyUs = all.reduce((sum, { thread }) => sum + thread.busyUs, 0);
  const measuredUs = endUs * (1 - WARM_UP);
  return {
    instanceUse: busyUs / n / measuredUs,
    redisUse: redis.busyUs / measuredUs,
    waitUs: waits.quantile(0.99),
    acknowledgedUs: acknowledged.quantile(0.99),
    acknowledgedPerSecond: acknowledged.count / (measuredUs / 1e6),
  };
}
