import type { Figures } from './figures.ts';
import { type Load, MIX, callsOf, operationUs } from './load.ts';

/** The utilization to plan with. */
export const HEADROOM = 0.6;
export const SOCKETS_OF_AN_INSTANCE = 30_000;

export interface UpstreamLimits {
  /** All instances together. */
  readonly callsPerSecond: number;
  /** Each instance. */
  readonly inFlight: number;
}

export const CALL_US = 50_000;
export const UNLIMITED: UpstreamLimits = { callsPerSecond: Infinity, inFlight: Infinity };

/** How many of `n` instances have a recipient of an event, if sockets are spread evenly. */
const instancesReached = (recipients: number, n: number): number =>
  n * (1 - (1 - 1 / n) ** recipients);

/** How many events share an append, and how many a read finds on average, empty reads included. */
interface Batches {
  readonly appended: number;
  readonly read: number;
}

/**
 * Events that arrive during an append share the next one, and those that are appended during a read are read by the next
 * one: at low rates there is one read for each event, at high rates many events for each read.
 */
function batchesOf({ webhooks }: Load, n: number, f: Figures): Batches {
  const perUs = webhooks / 1e6;
  // All instances are notified at once, so the reads of all of them wait for each other.
  const redisReadUs = n * f.redisReadPage;
  const readUs = redisReadUs + f.readPage + f.readEvent;
  const redisAppendUs = f.redisAppendBatch + f.redisAppendEvent + f.redisFlush;
  const appendUs = f.ingestBatch + redisReadUs / 2 + redisAppendUs;
  const [duringAppend, duringRead] = [(perUs / n) * appendUs, perUs * readUs];
  // Poisson: no event arrives with the probability e^-x.
  const appended = duringAppend + Math.exp(-duringAppend);
  const isEmpty = Math.exp(-duringRead / appended);
  return { appended, read: duringRead + appended * isEmpty };
}

/** Shares of the time that one of `n` instances is busy. Reading every event is the part that does not shrink with `n`. */
export function instanceUse(load: Load, n: number, f: Figures) {
  const { operations, webhooks, recipients } = load;
  const { appended, read } = batchesOf(load, n, f);
  const executed = webhooks * (instancesReached(recipients, n) / n);
  const parts = {
    operations:
      (operations / n) * MIX.reduce((sum, kind) => sum + kind.share * operationUs(kind, f), 0),
    ingest: (webhooks / n) * (f.ingestBatch / appended + f.ingestEvent),
    reading: webhooks * (f.readPage / read + f.readEvent),
    delivery: executed * f.execute + ((webhooks * recipients) / n) * f.send,
  };
  const { reading } = parts;
  const total = Object.values(parts).reduce((sum, us) => sum + us, 0);
  return { total: total / 1e6, reading: reading / 1e6 };
}

export function redisUse(load: Load, n: number, f: Figures): number {
  const { appended, read } = batchesOf(load, n, f);
  const appendUs = f.redisAppendBatch / appended + f.redisAppendEvent;
  const readUs = f.redisReadPage / read + f.redisReadEvent;
  return (load.webhooks * (appendUs + n * readUs)) / 1e6;
}

/** Calls a second to the Partner API: cache misses, and one for an event on every instance that has a recipient. */
export function upstreamCalls({ operations, webhooks, recipients }: Load, n: number): number {
  const perOperation = MIX.reduce((sum, kind) => sum + kind.share * callsOf(kind), 0);
  return operations * perOperation + webhooks * instancesReached(recipients, n);
}

/** Little's law. */
export const callsInFlight = (load: Load, n: number): number =>
  (upstreamCalls(load, n) * CALL_US) / 1e6;

export const memoryMb = ({ subscribers }: Load, n: number, f: Figures): number =>
  f.baseMemory + (subscribers / n) * (f.subscriberMemory / 2 ** 20);

export type Part = 'an instance' | 'Redis' | 'sockets' | 'calls in flight' | "the API's rate";

interface Use {
  readonly part: Part;
  /** 1: as much as it should be used. */
  readonly of: number;
}

/** How much each part is used, the most used first. */
function usesOf(load: Load, n: number, f: Figures, upstream: UpstreamLimits): readonly Use[] {
  const uses: readonly Use[] = [
    { part: 'an instance', of: instanceUse(load, n, f).total / HEADROOM },
    { part: 'Redis', of: redisUse(load, n, f) / HEADROOM },
    { part: 'sockets', of: load.subscribers / n / SOCKETS_OF_AN_INSTANCE },
    { part: 'calls in flight', of: callsInFlight(load, n) / n / upstream.inFlight / HEADROOM },
    { part: "the API's rate", of: upstreamCalls(load, n) / upstream.callsPerSecond },
  ];
  return uses.toSorted((a, b) => b.of - a.of);
}

/** The highest load that `n` instances and one Redis handle by the rule, and the part that is then fully used. */
export function capacityOf(
  loadOf: (amount: number) => Load,
  n: number,
  f: Figures,
  upstream = UNLIMITED,
  ignored: readonly Part[] = [],
) {
  const mostUsed = (amount: number): Use =>
    usesOf(loadOf(amount), n, f, upstream).find(({ part }) => !ignored.includes(part)) ?? {
      part: 'an instance',
      of: Infinity,
    };
  let [low, high] = [1e-3, 1e9];
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (mostUsed(middle).of <= 1) low = middle;
    else high = middle;
  }
  return { amount: low, part: mostUsed(low).part };
}
