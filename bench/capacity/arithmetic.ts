import type { Figures } from './figures.ts';
import { groupsOf } from './groups.ts';
import { highest } from './highest.ts';
import { type Load, callsAnOperation, pieceUs } from './load.ts';
import type { UpstreamLimits } from './upstream-gate.ts';

/** Busy for this share of the time, a queue stays short; past it, p99 runs away. */
export const HEADROOM = 0.6;
export const SOCKETS_OF_AN_INSTANCE = 30_000;
/** How far work lies from its mean: the standard deviation, as a share of the mean. Assumed. */
export const VARIATION = 0.5;

/** Work that comes so often, and takes so long in one piece. */
export interface Piece {
  readonly perSecond: number;
  readonly us: number;
}

/** How many of `n` instances have a recipient of an event, if sockets are spread evenly. */
const instancesReached = (recipients: number, n: number): number =>
  n * (1 - (1 - 1 / n) ** recipients);

/** What one of `n` instances has to do. Reading every event is the part that does not shrink with `n`. */
export function instancePieces(load: Load, n: number, f: Figures): readonly Piece[] {
  const { webhooks, recipients } = load;
  const groups = groupsOf(load, n, f);
  const delivered = (webhooks * instancesReached(recipients, n)) / n;
  return [
    ...load.mix.flatMap((kind): Piece[] => {
      const perSecond = (load.operations * kind.share) / n;
      const us = pieceUs(kind, f);
      // Answers of one level come close together, so that a request that comes then waits for all of them.
      return [{ perSecond, us }, ...kind.calls.map((calls) => ({ perSecond, us: calls * us }))];
    }),
    { perSecond: webhooks / n, us: f.takeInEvent },
    { perSecond: webhooks / n / groups.taken, us: f.takeInGroup },
    { perSecond: webhooks / groups.read, us: f.readGroup + groups.read * f.readEvent },
    { perSecond: delivered, us: f.execute / 2 },
    {
      perSecond: delivered,
      us: f.execute / 2 + (delivered > 0 ? (webhooks * recipients) / n / delivered : 0) * f.send,
    },
  ].filter(({ perSecond }) => perSecond > 0);
}

/** ρ = λ × S, summed over all there is to do. */
export const utilizationOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((sum, { perSecond, us }) => sum + (perSecond * us) / 1e6, 0);

export function redisUtilization(load: Load, n: number, f: Figures): number {
  const { webhooks } = load;
  const groups = groupsOf(load, n, f);
  const append = f.redisAppendGroup / groups.taken + f.redisAppendEvent;
  const read = f.redisReadGroup / groups.read + f.redisReadEvent;
  return (webhooks * (append + n * read)) / 1e6;
}

/** What is left of the work that one finds under way: ES² / 2ES, pauses of the collector included. */
export function residueUs(pieces: readonly Piece[], f: Figures): number {
  let first = 0;
  let second = 0;
  for (const { perSecond, us } of pieces) {
    const work = us * (1 - f.gcShare);
    const pauses = (us * f.gcShare) / f.gcPause;
    first += perSecond * us;
    second +=
      perSecond *
      (work ** 2 * (1 + VARIATION ** 2) + pauses * f.gcPause * (2 * f.gcPause + 2 * work));
  }
  return first === 0 ? 0 : second / (2 * first);
}

/** All but one in a hundred wait less, at so much use (Pollaczek and Khinchine, with an exponential tail). */
export const waitUs = (residue: number, rho: number): number =>
  (residue * Math.log(100 * rho)) / (1 - rho);

/** Calls a second to the Partner API: what misses the cache, and one an event on every instance that has a recipient. */
export const upstreamCalls = ({ operations, webhooks, recipients, mix }: Load, n: number): number =>
  operations * callsAnOperation(mix) + webhooks * instancesReached(recipients, n);

export const memoryMb = ({ subscribers }: Load, n: number, f: Figures): number =>
  f.baseMemory + (subscribers / n) * (f.subscriberMemory / 2 ** 20);

/** Little's law: as many calls are in flight as come in the time that one takes. */
export const callsInFlight = (load: Load, n: number, latencyUs: number): number =>
  (upstreamCalls(load, n) * latencyUs) / 1e6;

/** What Redis keeps: events for so long, and what lies under what, of a million records at most. */
export const redisBytes = (events: number, f: Figures): number =>
  events * f.redisEventBytes + Math.min(1e6, 2 * events) * f.redisLinkBytes;

export type Part = 'an instance' | 'Redis' | 'sockets' | 'calls in flight' | "the API's rate";

export interface Use {
  readonly part: Part;
  /** 1: as much as it should be given. */
  readonly of: number;
}

/** How far each part is used, the fullest first. */
export function usesOf(
  load: Load,
  n: number,
  f: Figures,
  upstream: UpstreamLimits,
): readonly Use[] {
  const inFlight = callsInFlight(load, n, upstream.latencyUs) / n;
  const uses: readonly Use[] = [
    { part: 'an instance', of: utilizationOf(instancePieces(load, n, f)) / HEADROOM },
    { part: 'Redis', of: redisUtilization(load, n, f) / HEADROOM },
    { part: 'sockets', of: load.subscribers / n / SOCKETS_OF_AN_INSTANCE },
    { part: 'calls in flight', of: inFlight / upstream.inFlight / HEADROOM },
    { part: "the API's rate", of: upstreamCalls(load, n) / upstream.perSecond },
  ];
  return uses.toSorted((a, b) => b.of - a.of);
}

/** The most of a load that `n` instances and one Redis hold by the rule, and what gives way past it. */
export function capacityOf(
  loadOf: (amount: number) => Load,
  n: number,
  f: Figures,
  upstream: UpstreamLimits,
) {
  const fullest = (amount: number): Use =>
    usesOf(loadOf(amount), n, f, upstream)[0] ?? { part: 'an instance', of: 0 };
  const amount = highest((each) => fullest(each).of <= 1, 1);
  return { amount, part: fullest(amount).part };
}
