import { readFileSync } from 'node:fs';

type Unit = 'µs' | 'bytes' | 'MB' | 'share';
type Labels = Readonly<Record<string, readonly [unit: Unit, label: string]>>;

/**
 * Times are CPU of the thread that limits the throughput. The cost of a batch or a read is paid once for all events in
 * it, the cost of an event for each of them.
 */
const OF_BENCH = {
  hotSmall: ['µs', 'an operation, hot, small (W1)'],
  hotLarge: ['µs', 'hot, large (W2)'],
  executedSmall: ['µs', 'executed, small'],
  executedLarge: ['µs', 'executed, large'],
  uncachedSmall: ['µs', 'uncached, small: 1 call'],
  uncachedLarge: ['µs', 'uncached, large: 278 calls'],
  ingestEmbedded: ['µs', 'a webhook, embedded log, 32 at once'],
} as const satisfies Labels;

const OF_CAPACITY = {
  ingestBatch: ['µs', 'a batch of webhooks sent to Redis'],
  ingestEvent: ['µs', 'each webhook of it'],
  readPage: ['µs', 'a read of the log in Redis'],
  readEvent: ['µs', 'each event found, applied'],
  execute: ['µs', 'an event executed for its first subscriber'],
  send: ['µs', 'each further subscriber with the same document'],
  redisAppendBatch: ['µs', 'Redis: a batch appended'],
  redisAppendEvent: ['µs', 'Redis: each event of it'],
  redisReadPage: ['µs', 'Redis: a read by one instance'],
  redisReadEvent: ['µs', 'Redis: each event found'],
  redisFlush: ['µs', 'a flush of this disk (waiting time, not CPU)'],
  gcShare: ['share', 'garbage collection, share of the CPU of the main thread'],
  gcPause: ['µs', 'one pause for garbage collection'],
  baseMemory: ['MB', 'an instance with one subscriber, resident'],
  subscriberMemory: ['bytes', 'each subscriber, resident'],
  redisEventBytes: ['bytes', 'an event in Redis, with its keys'],
  redisMarkBytes: ['bytes', 'the mark of a finalized note in Redis'],
  embeddedEventBytes: ['bytes', 'an event in the embedded log, with its keys'],
} as const satisfies Labels;

export type FigureName = keyof typeof OF_BENCH | keyof typeof OF_CAPACITY;
export type Figures = Readonly<Record<FigureName, number>>;

/** The figures by the command that measures them. */
export const COMMANDS: Readonly<Record<string, Labels>> = {
  'npm run bench -- --only hot,executed,uncached,K': OF_BENCH,
  'npm run capacity -- --measure': OF_CAPACITY,
};

export interface FiguresFile {
  /** The day of the measurement. */
  readonly date: string;
  readonly machine: string;
  readonly cores: number;
  readonly figures: Figures;
  /** What the figures of Redis are computed from. */
  readonly redis: readonly RedisRound[];
  /** What one real instance did at most. */
  readonly bench: readonly BenchRow[];
}

/** Webhooks sent to the first of `instances` over so many connections. Microseconds and bytes are per event. */
export interface RedisRound {
  readonly instances: number;
  readonly connections: number;
  readonly perSecond: number;
  readonly redisUs: number;
  readonly firstUs: number;
  /** Of each other instance, which only reads the events; 0 if there is none. */
  readonly otherUs: number;
  /** All threads of all processes, also of the load generator. */
  readonly allUs: number;
  readonly bytes: number;
  readonly eventsPerAppend: number;
  /** Below 1 where most reads find no event. */
  readonly eventsPerRead: number;
}

export interface BenchRow {
  readonly row: string;
  readonly perSecond: number;
  readonly mainThreadUs: number;
}

export const FIGURES_URL = new URL('figures.json', import.meta.url);

export const readFigures = (): FiguresFile =>
  JSON.parse(readFileSync(FIGURES_URL, 'utf8')) as FiguresFile;
