import type { FigureName, Figures } from './figures.ts';

/** What is asked of all instances together. Rates are a second. */
export interface Load {
  readonly operations: number;
  readonly webhooks: number;
  readonly subscribers: number;
  /** Subscribers that one event is for. */
  readonly recipients: number;
  readonly mix: readonly Kind[];
}

export interface Kind {
  readonly figure: FigureName;
  /** Of all operations. */
  readonly share: number;
  /** How much of what was measured it takes. */
  readonly part?: number;
  /** Calls to the Partner API, level by level: those of one level go side by side. */
  readonly calls: readonly number[];
}

/** An assumption, to be replaced by what your own metrics say. The last is a screen: a tenth of the largest measured. */
export const MIX: readonly Kind[] = [
  { figure: 'hotSmall', share: 0.5, calls: [] },
  { figure: 'executedSmall', share: 0.28, calls: [] },
  { figure: 'uncachedSmall', share: 0.18, calls: [1] },
  { figure: 'hotLarge', share: 0.01, calls: [] },
  { figure: 'executedLarge', share: 0.01, calls: [] },
  { figure: 'uncachedLarge', share: 0.02, part: 0.1, calls: [1, 2, 25] },
];

export const callsOf = ({ calls }: Kind): number => calls.reduce((sum, count) => sum + count, 0);

/** What it takes before its first call, and for each answer. */
export const pieceUs = (kind: Kind, figures: Figures): number =>
  (figures[kind.figure] * (kind.part ?? 1)) / (callsOf(kind) + 1);

/** Calls that an operation makes, on average. */
export const callsAnOperation = (mix: readonly Kind[]): number =>
  mix.reduce((sum, kind) => sum + kind.share * callsOf(kind), 0);

const NOTHING: Load = { operations: 0, webhooks: 0, subscribers: 0, recipients: 0, mix: MIX };

/**
 * At the busiest hour a clinician looks at something every 25 seconds, has a webhook every 500 (sessions of an hour,
 * three events each, most of them at its end), and one screen that listens to their own sessions.
 */
export const clinicians = (count: number): Load => ({
  ...NOTHING,
  operations: count / 25,
  webhooks: count / 500,
  subscribers: count,
  recipients: 1,
});

export const operationsAlone = (perSecond: number): Load => ({ ...NOTHING, operations: perSecond });

/** Nobody listens. */
export const webhooksAlone = (perSecond: number): Load => ({ ...NOTHING, webhooks: perSecond });

/** Every event is delivered to every subscriber. */
export const toEverybody =
  (subscribers: number) =>
  (perSecond: number): Load => ({
    ...NOTHING,
    webhooks: perSecond,
    subscribers,
    recipients: subscribers,
  });

/** What is compared, by what its amount counts. */
export const LOADS: Readonly<Record<string, (amount: number) => Load>> = {
  'operations a second': operationsAlone,
  'webhooks a second, no subscribers': webhooksAlone,
  'events a second to 5,000 subscribers each': toEverybody(5_000),
  clinicians,
};
