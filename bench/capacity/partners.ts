import {
  type Part,
  callsInFlight,
  instancePieces,
  memoryMb,
  redisBytes,
  redisUtilization,
  upstreamCalls,
  usesOf,
  utilizationOf,
} from './arithmetic.ts';
import type { Figures } from './figures.ts';
import { type Load, clinicians } from './load.ts';
import { percent, rounded, table } from './markdown.ts';
import type { UpstreamLimits } from './upstream-gate.ts';

/** A day holds as much as this many seconds of its busiest hour: 24 events and 480 operations a clinician. */
const BUSY_SECONDS = 12_000;
const DAYS_KEPT = 7;
/** As configured by default; what the API allows is not documented, so that a round number stands for it. */
const DEFAULTS: UpstreamLimits = {
  perSecond: 100,
  inFlight: 64,
  latencyUs: 50_000,
  variation: 0.5,
};

interface Partner {
  readonly name: string;
  readonly clinicians: number;
  readonly instances: number;
}

const PARTNERS: readonly Partner[] = [
  { name: 'small', clinicians: 100, instances: 1 },
  { name: 'middle', clinicians: 2_000, instances: 2 },
  { name: 'large', clinicians: 50_000, instances: 4 },
];

/** Which part is full first, if there are ever more clinicians; and at how many. */
function firstLimit(n: number, f: Figures, but: readonly Part[]): string {
  const at = (count: number) =>
    usesOf(clinicians(count), n, f, DEFAULTS).filter(({ part }) => !but.includes(part));
  let count = 1;
  while ((at(count)[0]?.of ?? 2) <= 1) count *= 1.01;
  return `${at(count)[0]?.part}, at ${rounded(count)} clinicians`;
}

export function partnersSection(f: Figures): string {
  const column = (of: (partner: Partner, load: Load, n: number) => string) =>
    PARTNERS.map((partner) => of(partner, clinicians(partner.clinicians), partner.instances));
  const rate = "the API's rate";
  const rows: [string, ...string[]][] = [
    ['clinicians, each with a screen open', ...column((partner) => rounded(partner.clinicians))],
    ['operations a second', ...column((_, load) => rounded(load.operations))],
    ['webhooks a second', ...column((_, load) => rounded(load.webhooks))],
    ['instances', ...column((_, __, n) => String(n))],
    [
      'an instance is busy',
      ...column((_, load, n) => percent(utilizationOf(instancePieces(load, n, f)))),
    ],
    ['Redis is busy', ...column((_, load, n) => percent(redisUtilization(load, n, f)))],
    ['sockets an instance', ...column((_, load, n) => rounded(load.subscribers / n))],
    ['memory an instance', ...column((_, load, n) => `${rounded(memoryMb(load, n, f))} MB`)],
    [
      'Redis, with the events of a week',
      ...column((_, load) => gigabytes(redisBytes(load.webhooks * BUSY_SECONDS * DAYS_KEPT, f))),
    ],
    [
      '**calls a second** to the Partner API',
      ...column((_, load, n) => rounded(upstreamCalls(load, n))),
    ],
    ['calls a day', ...column((_, load, n) => rounded(upstreamCalls(load, n) * BUSY_SECONDS))],
    [
      'calls in flight, if one takes 50 ms',
      ...column((_, load, n) => rounded(callsInFlight(load, n, DEFAULTS.latencyUs))),
    ],
    [
      `first limit, if the API allows ${DEFAULTS.perSecond} calls a second`,
      ...column((_, __, n) => firstLimit(n, f, [])),
    ],
    ['and if it allows any number', ...column((_, __, n) => firstLimit(n, f, [rate]))],
    [
      'and with more calls in flight',
      ...column((_, __, n) => firstLimit(n, f, [rate, 'calls in flight'])),
    ],
    [
      'and with more sockets an instance',
      ...column((_, __, n) => firstLimit(n, f, [rate, 'calls in flight', 'sockets'])),
    ],
  ];
  return table(['', ...PARTNERS.map(({ name }) => name)], rows);
}

const gigabytes = (bytes: number): string =>
  bytes < 1e9 ? `${rounded(bytes / 1e6)} MB` : `${rounded(bytes / 1e9)} GB`;
