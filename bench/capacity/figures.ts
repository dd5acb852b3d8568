import { readFileSync } from 'node:fs';

/** One measured number, its unit and the command that gave it. */
export interface Measured {
  readonly value: number;
  readonly unit: 'µs' | 'bytes' | 'MB' | 'a second' | 'share';
  readonly what: string;
  readonly by: string;
}

/**
 * All times are CPU of the thread that bounds the throughput. "Group" is paid once for all that goes together,
 * "event" for each in it.
 */
export const NAMES = [
  'hotSmall',
  'hotLarge',
  'executedSmall',
  'executedLarge',
  'uncachedSmall',
  'uncachedLarge',
  'takeInEmbedded',
  'takeInGroup',
  'takeInEvent',
  'readGroup',
  'readEvent',
  'execute',
  'send',
  'redisAppendGroup',
  'redisAppendEvent',
  'redisReadGroup',
  'redisReadEvent',
  'redisFlush',
  'gcShare',
  'gcPause',
  'baseMemory',
  'subscriberMemory',
  'subscriberHeap',
  'redisEventBytes',
  'redisLinkBytes',
  'embeddedEventBytes',
] as const;
export type FigureName = (typeof NAMES)[number];

export type Figures = Readonly<Record<FigureName, number>>;

export interface FiguresFile {
  readonly machine: string;
  readonly cores: number;
  readonly figures: Readonly<Record<FigureName, Measured>>;
  /** What the figures of Redis were made of. */
  readonly redis: readonly RedisRound[];
  /** What real processes did, to hold the sums against. */
  readonly reality: readonly Reality[];
}

/** Webhooks for the first of `instances`, so many at once; microseconds and bytes an event. */
export interface RedisRound {
  readonly instances: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly redisUs: number;
  readonly firstUs: number;
  /** Of each of the others, which only reads it; 0 if there is none. */
  readonly otherUs: number;
  /** All threads of all processes, the loader's too. */
  readonly allUs: number;
  readonly bytes: number;
  /** Events of one script, and of one page. */
  readonly taken: number;
  readonly read: number;
}

/** A row of the bench: one instance, as many as it can. */
export interface Reality {
  readonly what: string;
  readonly perSecond: number;
  readonly mainThreadUs: number;
}

export const FIGURES_URL = new URL('figures.json', import.meta.url);

export const readFigures = (): FiguresFile =>
  JSON.parse(readFileSync(FIGURES_URL, 'utf8')) as FiguresFile;

export const valuesOf = ({ figures }: FiguresFile): Figures =>
  Object.fromEntries(NAMES.map((name) => [name, figures[name].value])) as Figures;
