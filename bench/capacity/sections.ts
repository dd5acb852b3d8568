import {
  HEADROOM,
  SOCKETS_OF_AN_INSTANCE,
  capacityOf,
  instancePieces,
  memoryMb,
  utilizationOf,
} from './arithmetic.ts';
import { type Figures, type FiguresFile, NAMES, valuesOf } from './figures.ts';
import { LOADS, type Load, operationsAlone, toEverybody, webhooksAlone } from './load.ts';
import { percent, rounded, table } from './markdown.ts';
import { partnersSection } from './partners.ts';
import type { UpstreamLimits } from './upstream-gate.ts';

export const SIZES = [1, 2, 4, 8, 16, 32];
/** Raised from its default, and no limit on the rate: what the gateway itself can hold. */
export const WIDE: UpstreamLimits = {
  perSecond: Infinity,
  inFlight: 512,
  latencyUs: 50_000,
  variation: 0.5,
};

function figuresSection({ figures, machine }: FiguresFile): string {
  const commands = [...new Set(NAMES.map((name) => figures[name].by))];
  const tables = commands.map((command) => {
    const own = NAMES.map((name) => figures[name]).filter(({ by }) => by === command);
    const rows = own.map(({ value, unit, what }) => [
      what,
      unit === 'share' ? percent(value) : `${rounded(value)} ${unit}`,
    ]);
    return table([`\`${command}\``, ''], rows);
  });
  return [`${machine}:`, ...tables].join('\n\n');
}

const alone = (us: number): string => rounded((HEADROOM * 1e6) / us);

/** What one instance does in a second of which 60 % are used, each alone. */
function oneSection(f: Figures): string {
  const held = (load: (amount: number) => Load) => capacityOf(load, 1, f, WIDE);
  const events = (subscribers: number) => {
    const { amount } = held(toEverybody(subscribers));
    const to = subscribers === 1 ? 'one subscriber' : `${rounded(subscribers)} subscribers`;
    return [`events to ${to}`, rounded(amount)];
  };
  const full = { ...operationsAlone(0), subscribers: SOCKETS_OF_AN_INSTANCE };
  return table(
    ['one instance, nothing else to do', 'a second'],
    [
      ['operations, hot', `${alone(f.hotSmall)} small, ${alone(f.hotLarge)} large`],
      ['operations, executed', `${alone(f.executedSmall)} small, ${alone(f.executedLarge)} large`],
      ['operations, uncached', `${alone(f.uncachedSmall)} small, ${alone(f.uncachedLarge)} large`],
      ['operations, the mix below', rounded(held(operationsAlone).amount)],
      ['webhooks without subscribers, embedded log, 32 at once', alone(f.takeInEmbedded)],
      ['webhooks without subscribers, Redis, as they come', rounded(held(webhooksAlone).amount)],
      ...[1, 1_000, 5_000].map(events),
      [
        'subscribers',
        `${rounded(SOCKETS_OF_AN_INSTANCE)} in all, with ${rounded(memoryMb(full, 1, f))} MB`,
      ],
    ],
  );
}

function instancesSection(f: Figures): string {
  const rows = SIZES.map((n) => [
    String(n),
    ...Object.values(LOADS).map((load) => {
      const { amount, part } = capacityOf(load, n, f, WIDE);
      return `${rounded(amount)} (${part})`;
    }),
    percent(readingShare(n, f)),
  ]);
  return table(['instances', ...Object.keys(LOADS), 'of it reading'], rows);
}

/** Of an instance's work for webhooks, what it would have to do although another took them in. */
function readingShare(n: number, f: Figures): number {
  const { amount } = capacityOf(webhooksAlone, n, f, WIDE);
  const pieces = instancePieces(webhooksAlone(amount), n, f);
  return utilizationOf(pieces.slice(-1)) / utilizationOf(pieces);
}

/** All that is arithmetic, and takes no time. */
export function sectionsOf(file: FiguresFile): ReadonlyMap<string, string> {
  const f = valuesOf(file);
  return new Map([
    ['figures', figuresSection(file)],
    ['one', oneSection(f)],
    ['instances', instancesSection(f)],
    ['partners', partnersSection(f)],
  ]);
}
