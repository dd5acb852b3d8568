import type { Bench } from '../bench.ts';
import type { Child } from '../child.ts';
import { openChild } from '../child.ts';
import { type Crowd, nextEvent, openCrowd } from '../crowd.ts';
import type { Delivery } from '../events.ts';
import { type Figure, median, megabytes, ratioOf } from '../figures.ts';
import { openGateway } from '../gateway.ts';

const FEW = 1_000;
const MANY = 5_000;
const EVENTS_A_ROUND = 3;
/** A round is over in a moment, and its noise is large: there can be more of them. */
const ROUNDS_FACTOR = 3;

interface Side {
  readonly name: string;
  readonly child: Child;
  readonly crowd: Crowd;
  readonly next: () => Delivery;
}

interface Round {
  readonly cpuUs: number;
  readonly lastMs: number;
  readonly rssBytes: number;
}

/** S1: 5,000 subscribers with the same document, one event, against a raw broadcast of the same bytes. */
export async function broadcastRows(bench: Bench): Promise<readonly Figure[]> {
  if (!bench.wants('S1')) return [];
  bench.say('S1');
  await using gateway = await openGateway(bench.upstream.url, {}, bench.profileDir);
  await using raw = await openChild({ script: 'bench/targets/raw-ws.ts' });
  using ofGateway = openCrowd(gateway.url, false);
  using ofRaw = openCrowd(raw.url, false);

  const gatewaySide: Side = {
    name: 'gateway',
    child: gateway,
    crowd: ofGateway,
    next: () => nextEvent(),
  };
  const { slope: gatewaySlope, sample } = await grown(gatewaySide);
  const bytes = { body: sample, headers: {} };
  const rawSide: Side = { name: 'raw ws', child: raw, crowd: ofRaw, next: () => bytes };
  const { slope: rawSlope } = await grown(rawSide);

  const own: Round[] = [];
  const base: Round[] = [];
  for (let i = 0; i < ROUNDS_FACTOR * bench.rounds; i += 1) {
    own.push(await fired(gatewaySide));
    base.push(await fired(rawSide));
  }
  const ofCpu = ratioOf(own, base, cpuOf);
  const ofReceipt = ratioOf(own, base, receiptOf);
  return [
    {
      row: 'S1 CPU of an event',
      target: 'gateway',
      ...ofCpu,
      cpuUs: median(own.map(cpuOf)),
      memoryMb: megabytes(own.at(-1)?.rssBytes ?? 0),
      goal: '≤ 1.5',
      met: ofCpu.ratio <= 1.5,
    },
    {
      row: 'S1 last receipt',
      target: 'gateway',
      ...ofReceipt,
      ms: median(own.map(receiptOf)),
      goal: '≤ 1.25',
      met: ofReceipt.ratio <= 1.25,
    },
    {
      row: 'S1 heap a subscriber',
      target: 'gateway',
      ratio: gatewaySlope / rawSlope,
      note: kilobytes(gatewaySlope),
      goal: '≤ 2.5',
      met: gatewaySlope / rawSlope <= 2.5,
    },
    {
      row: 'S1',
      target: 'raw ws',
      ...ratioOf(base, base, cpuOf),
      cpuUs: median(base.map(cpuOf)),
      ms: median(base.map(receiptOf)),
      memoryMb: megabytes(base.at(-1)?.rssBytes ?? 0),
      note: kilobytes(rawSlope),
    },
  ];
}

const cpuOf = ({ cpuUs }: Round): number => cpuUs;
const receiptOf = ({ lastMs }: Round): number => lastMs;
const kilobytes = (bytes: number): string => `${(bytes / 1_024).toFixed(1)} KB`;

/** Lets everybody in; the slope is the heap that each one past the first thousand takes. */
async function grown({ child, crowd, next }: Side): Promise<{ slope: number; sample: string }> {
  await crowd.grow(FEW);
  await crowd.settle(next, FEW);
  const few = await child.usageAfterGc();
  await crowd.grow(MANY);
  const { sample } = await crowd.settle(next, MANY);
  const many = await child.usageAfterGc();
  await crowd.fire(
    Array.from({ length: 5 }, () => next()),
    MANY,
  );
  return { slope: (many.heapBytes - few.heapBytes) / (MANY - FEW), sample };
}

async function fired({ name, child, crowd, next }: Side): Promise<Round> {
  const deliveries = Array.from({ length: EVENTS_A_ROUND }, () => next());
  const before = await child.usage();
  const { lastMs } = await crowd.fire(deliveries, crowd.size);
  const after = await child.usage();
  const received = lastMs.filter((ms) => ms !== undefined);
  if (received.length < EVENTS_A_ROUND)
    throw new Error(`${name} must reach everybody, but did not`);
  return {
    cpuUs: (after.cpuUs - before.cpuUs) / EVENTS_A_ROUND,
    lastMs: median(received),
    rssBytes: after.rssBytes,
  };
}
