import { setTimeout } from 'node:timers/promises';

import { openSandbox } from '../../../../sandbox/sandbox.ts';
import { DETERMINISTIC, tokenFor } from '../../gateway.ts';
import { redisAvailable, startRedis } from '../../redis-server.ts';
import { follow } from '../follower.ts';
import { lossesIn, cursorNow, logged } from '../losses.ts';
import { startServer } from '../process/process.ts';
import { startSender } from '../sender.ts';
import { FAULTS } from './soak-faults.ts';
import { clinicianOf, startTraffic } from './soak-traffic.ts';
import { watchVitals } from './vitals.ts';

export interface SoakReport {
  readonly acknowledged: number;
  readonly refused: number;
  readonly lost: number;
  readonly repeated: number;
  readonly leaked: number;
  readonly asked: number;
  readonly answered: number;
  readonly edited: number;
  readonly connections: number;
  readonly faults: readonly string[];
  readonly heapMb: number;
  readonly heapSlopeMbPerMinute: number;
  readonly eventLoopP99Ms: number;
}

export interface SoakOptions {
  /** At least: each fault happens once, however short this is. */
  readonly seconds: number;
  /** How long a fault lasts that does not end by itself. */
  readonly faultMs: number;
  /** From the end of one fault to the next. */
  readonly faultEveryMs: number;
  readonly onFault?: (name: string) => void;
}

/** The two viewers. */
const CLINICIANS = [0, 1];
const FILTER = { types: ['PROGRESS_NOTE_GENERATED'] };

/**
 * Two servers on one Redis (or one on its own disk, where there is no Redis), with webhooks, edits, queries, subscribers
 * that connect and disconnect, and one fault after the other. In the end everything that was acknowledged must be in the log once and
 * have been received once by every subscriber who may read it, and by no other.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using opened = new AsyncDisposableStack();
  const redis = redisAvailable ? opened.use(await startRedis()) : undefined;
  const sandbox = await openSandbox({
    switches: { ...DETERMINISTIC, rewriteMs: 100 },
    firstRetryMs: 50,
  });
  opened.defer(sandbox.close);
  const env = redis && { REDIS_URL: redis.url };
  const start = (...preload: readonly string[]) =>
    startServer({ sandbox, preload, ...(env && { env }) });
  const steady = opened.use(await start('test/support/faults/process/collect-garbage.ts'));
  let unlucky = redis ? await start() : steady;
  opened.defer(() => unlucky.kill());
  const url = () => (Math.random() < 0.5 ? steady : unlucky).url;
  sandbox.deliverTo(`${steady.url}/webhooks`);

  const after = await cursorNow(steady.query);
  const tokenOf = (n: number) => tokenFor([`clinician:${sandbox.ids.clinician(n)}`]);
  const everything = await tokenFor(['partner']);
  const all = [0, 1, 2].map(() => follow({ url, after, token: everything, filter: FILTER }));
  const own = await Promise.all(
    CLINICIANS.map(async (n) => follow({ url, after, token: await tokenOf(n), filter: FILTER })),
  );
  const followers = [...all, ...own];
  const client = () => Math.floor(Math.random() * 26);
  const sender = startSender({ url, sandbox, client, writers: 4, pauseMs: 15 });
  const traffic = startTraffic(url, sandbox, CLINICIANS);
  const vitals = watchVitals(steady.url);
  const faults = await injectFaults();

  await Promise.all([sender.stop(), traffic.stop(), vitals.stop()]);
  const { acknowledged, clientOf } = sender;
  const ofClinician = (n: number) =>
    new Set([...acknowledged].filter((note) => clinicianOf(clientOf.get(note) ?? -1) === n));
  await Promise.all(all.map(async (follower) => follower.receives(acknowledged)));
  await Promise.all(own.map(async (follower, n) => follower.receives(ofClinician(n))));
  for (const follower of followers) follower.close();
  const losses = [
    lossesIn(acknowledged, await logged(steady.query, after)),
    ...all.map(({ received }) => lossesIn(acknowledged, received)),
    ...own.map(({ received }, n) => lossesIn(ofClinician(n), received)),
  ];
  const notTheirOwn = own.flatMap(({ received }, n) =>
    received.filter((note) => clinicianOf(clientOf.get(note) ?? -1) !== n),
  );
  const sum = (of: (losses: { lost: number; repeated: number }) => number) =>
    losses.reduce((total, each) => total + of(each), 0);
  return {
    acknowledged: acknowledged.size,
    refused: sender.refusals,
    lost: sum(({ lost }) => lost),
    repeated: sum(({ repeated }) => repeated),
    leaked: traffic.leaked + notTheirOwn.length,
    asked: traffic.asked,
    answered: traffic.answered,
    edited: traffic.edited,
    connections: followers.reduce((total, { connections }) => total + connections, 0),
    faults,
    heapMb: vitals.heapMb(),
    heapSlopeMbPerMinute: vitals.heapSlope(),
    eventLoopP99Ms: vitals.eventLoopP99Ms(),
  };

  /** One after the other until the time is over; a subscriber is dropped with each. */
  async function injectFaults(): Promise<readonly string[]> {
    const until = performance.now() + options.seconds * 1_000;
    const lastsMs = options.faultMs;
    const done: string[] = [];
    const names = Object.keys(FAULTS).filter((name) => redis || !/Redis|SIG|kill|stop/.test(name));
    const restart = async () => {
      unlucky = await start();
    };
    while (done.length < names.length || performance.now() < until) {
      const name = names[done.length % names.length]!;
      options.onFault?.(name);
      done.push(name);
      await FAULTS[name]!({ sandbox, redis, unlucky: () => unlucky, lastsMs, restart });
      await setTimeout(options.faultEveryMs);
      followers[done.length % followers.length]!.drop();
    }
    return done;
  }
}
