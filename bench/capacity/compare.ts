import { HEADROOM, type Part, SOCKETS_OF_AN_INSTANCE, capacityOf } from './arithmetic.ts';
import { boundsOf } from './bounds.ts';
import type { Figures } from './figures.ts';
import { highest } from './highest.ts';
import type { Load } from './load.ts';
import { type Simulated, simulate } from './simulate.ts';
import type { UpstreamLimits } from './upstream-gate.ts';

/** What the rule allows, and what the simulation bears. */
export interface Compared {
  readonly instances: number;
  readonly computed: number;
  readonly computedPart: Part;
  /** The most with which no part is more than 60 % busy, and which one would be. */
  readonly busy: number;
  readonly busyPart: Part;
  /** The most with which p99 is within its bound. */
  readonly punctual: number;
  /** At the computed amount: p99 of what the part that gives way is judged by. */
  readonly at: Simulated;
  readonly judgedUs: number;
  readonly boundUs: number;
}

/** Enough for a p99 that does not jump about. */
const ARRIVALS = 250_000;
const [MIN_SECONDS, MAX_SECONDS] = [4, 120];
const PRECISION = 0.02;
/** Past this a queue grows for as long as one looks. */
const SATURATED = 0.95;

export function compare(
  loadOf: (amount: number) => Load,
  instances: number,
  figures: Figures,
  upstream: UpstreamLimits,
  seed: number,
): Compared {
  const { amount, part } = capacityOf(loadOf, instances, figures, upstream);
  const bounds = boundsOf(loadOf(amount), instances, figures);
  // Webhooks wait for Redis, everything for its instance.
  const judged = ({ waitUs, acknowledgedUs }: Simulated) =>
    part === 'Redis' ? acknowledgedUs : waitUs;
  const boundUs = part === 'Redis' ? bounds.acknowledgedUs : bounds.waitUs;

  const runs = new Map<number, Simulated>();
  function run(share: number): Simulated {
    const load = loadOf(amount * share);
    const arrivals = load.operations + load.webhooks * Math.sqrt(instances);
    const seconds = Math.min(MAX_SECONDS, Math.max(MIN_SECONDS, ARRIVALS / arrivals));
    const done = runs.get(share) ?? simulate({ load, instances, figures, seed, seconds, upstream });
    runs.set(share, done);
    return done;
  }

  let past: Part = part;
  const hasSockets = (share: number): boolean => {
    const has = loadOf(amount * share).subscribers / instances <= SOCKETS_OF_AN_INSTANCE;
    if (!has) past = 'sockets';
    return has;
  };
  const isAtEase = (share: number): boolean => {
    if (!hasSockets(share)) return false;
    const { instanceUse, redisUse } = run(share);
    past = instanceUse > redisUse ? 'an instance' : 'Redis';
    return Math.max(instanceUse, redisUse) <= HEADROOM;
  };
  const busy = amount * highest(isAtEase, 0.5, PRECISION);
  const busyPart = past;
  const isPunctual = (share: number): boolean => {
    if (!hasSockets(share)) return false;
    const done = run(share);
    return Math.max(done.instanceUse, done.redisUse) <= SATURATED && judged(done) <= boundUs;
  };
  const at = run(1);
  return {
    instances,
    computed: amount,
    computedPart: part,
    busy,
    busyPart,
    punctual: amount * highest(isPunctual, 0.5, PRECISION),
    at,
    judgedUs: judged(at),
    boundUs,
  };
}
