import {
  HEADROOM,
  type Part,
  SOCKETS_OF_AN_INSTANCE,
  UNLIMITED,
  type UpstreamLimits,
  callsInFlight,
  capacityOf,
  instanceUse,
  memoryMb,
  redisUse,
  upstreamCalls,
} from './arithmetic.ts';
import { COMMANDS, type FigureName, type Figures, type FiguresFile } from './figures.ts';
import { LOADS, type Load, clinicians, eventsTo, operationsOnly, webhooksOnly } from './load.ts';

/** Numbers of instances. */
export const SIZES = [1, 2, 4, 8, 16];
/** A day has as much load as this many seconds of its busiest hour: 24 events and 480 operations per clinician. */
const BUSY_SECONDS = 12_000;
const DAYS_KEPT = 7;
const BUSY_DAYS_OF_A_YEAR = 250;
/** Of the events, those that finalize a note: one of the three of a session. */
const FINALIZED = 1 / 3;
/** The default of PARTNER_MAX_CONCURRENCY, and an assumed rate: the Partner API does not document its own. */
const ASSUMED: UpstreamLimits = { callsPerSecond: 100, inFlight: 64 };

const PARTNERS = [
  { name: 'small', clinicians: 100, instances: 1 },
  { name: 'medium', clinicians: 2_000, instances: 2 },
  { name: 'large', clinicians: 50_000, instances: 4 },
];

/** Two significant digits, three if the first is a one. */
export function rounded(value: number): string {
  const digits = value.toExponential().startsWith('1') ? 3 : 2;
  const short = Number(value.toPrecision(digits));
  return short >= 1_000 ? short.toLocaleString('en') : String(short);
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Text in the first column, numbers in the others. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const alignment = `|${headings.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`;
  return [line(headings), alignment, ...rows.map(line)].join('\n');
}

function summary(f: Figures): string {
  const one = (load: (amount: number) => Load) => rounded(capacityOf(load, 1, f).amount);
  const webhooks = SIZES.map((n) => ({ n, ...capacityOf(webhooksOnly, n, f) }));
  const best = webhooks.toSorted((a, b) => b.amount - a.amount)[0];
  const last = webhooks.at(-1);
  const limited = webhooks.find(({ part }) => part === 'Redis');
  const api = rounded(capacityOf(clinicians, 1, f, ASSUMED).amount);
  const own = capacityOf(clinicians, 1, f);
  return [
    `- **One instance** handles ${one(operationsOnly)} operations a second of the mix below, or ${one(webhooksOnly)} webhooks a second on Redis, and ${rounded(SOCKETS_OF_AN_INSTANCE)} sockets.`,
    `- **Several instances on one Redis**: operations and sockets grow with the number of instances. Webhooks do not, since every instance reads every event: ${best?.n} instances handle ${rounded(best?.amount ?? 0)} a second, ${last?.n} instances ${rounded(last?.amount ?? 0)}. ${limited ? `Redis is the first limit from ${limited.n} instances on.` : 'The first limit is an instance.'}`,
    `- **The quota of the Partner API is the real ceiling.** If it allows ${ASSUMED.callsPerSecond} calls a second, that is enough for ${api} clinicians. The gateway handles ${rounded(own.amount)} with one instance (first limit: ${own.part}).`,
  ].join('\n');
}

function figuresTables({ figures, date, machine }: FiguresFile): string {
  const tables = Object.entries(COMMANDS).map(([command, labels]) => {
    const rows = Object.entries(labels).map(([name, [unit, label]]) => {
      const value = figures[name as FigureName];
      return [label, unit === 'share' ? percent(value) : `${rounded(value)} ${unit}`];
    });
    return table([`\`${command}\``, ''], rows);
  });
  return [`${date}, ${machine}:`, ...tables].join('\n\n');
}

function oneInstance(f: Figures): string {
  const perSecond = (us: number) => rounded((HEADROOM * 1e6) / us);
  const smallAndLarge = (small: number, large: number) =>
    `${perSecond(small)} small, ${perSecond(large)} large`;
  const capacity = (load: (amount: number) => Load) => rounded(capacityOf(load, 1, f).amount);
  const full = { ...operationsOnly(0), subscribers: SOCKETS_OF_AN_INSTANCE };
  return table(
    ['one instance, with no other load', 'a second'],
    [
      ['operations, hot', smallAndLarge(f.hotSmall, f.hotLarge)],
      ['operations, executed', smallAndLarge(f.executedSmall, f.executedLarge)],
      ['operations, uncached', smallAndLarge(f.uncachedSmall, f.uncachedLarge)],
      ['operations, the mix below', capacity(operationsOnly)],
      ['webhooks without subscribers, embedded log, 32 at once', perSecond(f.ingestEmbedded)],
      ['webhooks without subscribers, Redis', capacity(webhooksOnly)],
      ['events to one subscriber', capacity(eventsTo(1))],
      ['events to 1,000 subscribers', capacity(eventsTo(1_000))],
      ['events to 5,000 subscribers', capacity(eventsTo(5_000))],
      [
        'sockets in all',
        `${rounded(SOCKETS_OF_AN_INSTANCE)}, with ${rounded(memoryMb(full, 1, f))} MB`,
      ],
    ],
  );
}

function instances(f: Figures): string {
  const rows = SIZES.map((n) => {
    const load = webhooksOnly(capacityOf(webhooksOnly, n, f).amount);
    const { reading, total } = instanceUse(load, n, f);
    const capacities = Object.values(LOADS).map((loadOf) => {
      const { amount, part } = capacityOf(loadOf, n, f);
      return `${rounded(amount)} (${part})`;
    });
    return [String(n), ...capacities, percent(reading / total)];
  });
  return table(['instances', ...Object.keys(LOADS), 'share of reading'], rows);
}

const eventsADay = ({ webhooks }: Load) => webhooks * BUSY_SECONDS;
const gigabytes = (bytes: number) => `${rounded(bytes / 1e9)} GB`;

function partners(f: Figures): string {
  const row = (name: string, of: (load: Load, n: number) => string) => [
    name,
    ...PARTNERS.map((partner) => of(clinicians(partner.clinicians), partner.instances)),
  ];
  const firstLimit = (name: string, upstream: UpstreamLimits, ignored: readonly Part[] = []) =>
    row(name, (_, n) => {
      const { amount, part } = capacityOf(clinicians, n, f, upstream, ignored);
      return `${part}, at ${rounded(amount)} clinicians`;
    });
  const eventBytes = (load: Load) => eventsADay(load) * DAYS_KEPT * f.redisEventBytes;
  const markBytes = (load: Load) =>
    eventsADay(load) * FINALIZED * BUSY_DAYS_OF_A_YEAR * f.redisMarkBytes;
  return table(
    ['', ...PARTNERS.map(({ name }) => name)],
    [
      row('clinicians, each with one socket', (load) => rounded(load.subscribers)),
      row('operations a second', (load) => rounded(load.operations)),
      row('webhooks a second', (load) => rounded(load.webhooks)),
      row('instances', (_, n) => String(n)),
      row('utilization of an instance', (load, n) => percent(instanceUse(load, n, f).total)),
      row('utilization of Redis', (load, n) => percent(redisUse(load, n, f))),
      row('sockets per instance', (load, n) => rounded(load.subscribers / n)),
      row('memory per instance', (load, n) => `${rounded(memoryMb(load, n, f))} MB`),
      row('memory of Redis, events of a week', (load) => gigabytes(eventBytes(load))),
      row('and finalized notes of a year', (load) => gigabytes(markBytes(load))),
      row('**calls a second** to the Partner API', (load, n) => rounded(upstreamCalls(load, n))),
      row('calls a day', (load, n) => rounded(upstreamCalls(load, n) * BUSY_SECONDS)),
      row('calls in flight, if one takes 50 ms', (load, n) => rounded(callsInFlight(load, n))),
      firstLimit(
        `first limit, if the API allows ${ASSUMED.callsPerSecond} calls a second`,
        ASSUMED,
      ),
      firstLimit('and if it allows any number', ASSUMED, ["the API's rate"]),
      firstLimit('and with more calls in flight', UNLIMITED),
      firstLimit('and with more sockets per instance', UNLIMITED, ['sockets']),
    ],
  );
}

/** What is computed from the figures. */
export const arithmeticSections = (file: FiguresFile): ReadonlyMap<string, string> =>
  new Map([
    ['summary', summary(file.figures)],
    ['figures', figuresTables(file)],
    ['one', oneInstance(file.figures)],
    ['instances', instances(file.figures)],
    ['partners', partners(file.figures)],
  ]);
