import type { FigureName, Figures } from './figures.ts';

/** The load of all instances together. Rates are per second. */
export interface Load {
  readonly operations: number;
  readonly webhooks: number;
  readonly subscribers: number;
  /** Subscribers that receive an event. */
  readonly recipients: number;
}

export interface Kind {
  readonly figure: FigureName;
  /** Of all operations. */
  readonly share: number;
  /** The part of the measured operation that it costs. */
  readonly part?: number;
  /** Calls to the Partner API, level by level: those of one level run in parallel. */
  readonly calls: readonly number[];
}

/** An assumption: replace it by what your metrics say. The last one is a tenth of the largest operation of the bench. */
export const MIX: readonly Kind[] = [
  { figure: 'hotSmall', share: 0.5, calls: [] },
  { figure: 'executedSmall', share: 0.28, calls: [] },
  { figure: 'uncachedSmall', share: 0.18, calls: [1] },
  { figure: 'hotLarge', share: 0.01, calls: [] },
  { figure: 'executedLarge', share: 0.01, calls: [] },
  { figure: 'uncachedLarge', share: 0.02, part: 0.1, calls: [1, 2, 25] },
];

export const callsOf = ({ calls }: Kind): number => calls.reduce((sum, count) => sum + count, 0);

export const operationUs = ({ figure, part = 1 }: Kind, figures: Figures): number =>
  figures[figure] * part;

const NONE: Load = { operations: 0, webhooks: 0, subscribers: 0, recipients: 0 };

/**
 * In the busiest hour a clinician has one operation every 25 seconds, one webhook every 500 seconds (sessions of an
 * hour, three events each, most of them at its end), and one socket for their own sessions.
 */
export const clinicians = (count: number): Load => ({
  operations: count / 25,
  webhooks: count / 500,
  subscribers: count,
  recipients: 1,
});

export const operationsOnly = (perSecond: number): Load => ({ ...NONE, operations: perSecond });

export const webhooksOnly = (perSecond: number): Load => ({ ...NONE, webhooks: perSecond });

/** Every event is delivered to every subscriber. */
export const eventsTo =
  (subscribers: number) =>
  (perSecond: number): Load => ({
    ...NONE,
    webhooks: perSecond,
    subscribers,
    recipients: subscribers,
  });

/** The columns of the table, by what their amount counts. */
export const LOADS: Readonly<Record<string, (amount: number) => Load>> = {
  'operations a second': operationsOnly,
  'webhooks a second, no subscribers': webhooksOnly,
  'events a second to 5,000 subscribers each': eventsTo(5_000),
  clinicians,
};
