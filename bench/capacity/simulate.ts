import { CALL_US } from './arithmetic.ts';
import type { Figures } from './figures.ts';
import { type Kind, type Load, MIX, callsOf, operationUs } from './load.ts';
import {
  type Random,
  type Recorder,
  type Redis,
  type Timeline,
  createRandom,
  createRedis,
  createThread,
  createTimeline,
} from './queues.ts';

/** As in the gateway: events of one append, and of one read. */
const MAX_APPENDED = 200;
const MAX_READ = 256;
/** Standard deviations as a share of the mean. Assumed. */
const WORK_VARIATION = 0.5;
const CALL_VARIATION = 0.5;
const FLUSH_VARIATION = 1;
/** The share of the time that is not recorded. */
const WARM_UP = 0.1;

export interface Run {
  readonly load: Load;
  readonly instances: number;
  readonly figures: Figures;
  readonly seconds: number;
  /** Instead of random arrivals: webhooks to the first instance, each connection sending the next one when the last was answered. */
  readonly connections?: number;
}

export interface Simulated {
  readonly instanceUse: number;
  /** Without its flushes. */
  readonly redisUse: number;
  /** p99, in microseconds: until an instance begins to handle a request. */
  readonly waitUs: number;
  /** p99, in microseconds: until a webhook is answered. */
  readonly answeredUs: number;
  readonly answeredPerSecond: number;
}

interface Shared {
  readonly timeline: Timeline;
  readonly random: Random;
  readonly recorder: Recorder;
  readonly figures: Figures;
  readonly redis: Redis;
  /** The number of events in the log. */
  readonly log: { newest: number };
  readonly notifyAll: () => void;
}

/** One gateway: the work of its thread, and what it waits for. `recipientsOf` counts the recipients of an event here. */
function createInstance(shared: Shared, recipientsOf: (event: number) => number) {
  const { timeline, random, figures: f, redis, log } = shared;
  const thread = createThread(timeline, shared.recorder);
  const unsent: (() => void)[] = [];
  /** Webhooks that are answered once this instance has applied their event. */
  const unapplied: { readonly position: number; readonly answer: () => void }[] = [];
  let isAppending = false;
  let isReading = false;
  let position = 0;
  /** The newest event that this instance was notified of. */
  let notified = 0;

  /** Garbage collection is part of the measured times, and happens in pauses. */
  function work(us: number): number {
    const hasPause = random.uniform() < (us * f.gcShare) / f.gcPause;
    const own = random.lognormal(us * (1 - f.gcShare), WORK_VARIATION);
    return own + (hasPause ? random.exponential(f.gcPause) : 0);
  }

  const call = (done: () => void) =>
    timeline.after(random.lognormal(CALL_US, CALL_VARIATION), done);

  function operation(kind: Kind): void {
    // As much before the first call as for each response.
    const us = operationUs(kind, f) / (callsOf(kind) + 1);
    const level = (at: number): void => {
      let left = kind.calls[at] ?? 0;
      const responded = () => {
        left -= 1;
        if (left === 0) level(at + 1);
      };
      for (let i = left; i > 0; i -= 1) call(() => thread.run(work(us), responded));
    };
    thread.runRequest(work(us), () => level(0));
  }

  function webhook(answer: () => void): void {
    thread.runRequest(work(f.ingestEvent), () => {
      unsent.push(answer);
      if (!isAppending) append();
    });
  }

  function append(): void {
    const batch = unsent.splice(0, MAX_APPENDED);
    isAppending = batch.length > 0;
    if (!isAppending) return;
    let appendedTo = 0;
    const command = {
      isWrite: true,
      run: () => {
        appendedTo = log.newest += batch.length;
        return f.redisAppendBatch + batch.length * f.redisAppendEvent;
      },
      done: () => {
        for (const answer of batch) unapplied.push({ position: appendedTo, answer });
        answerApplied();
        shared.notifyAll();
        append();
      },
    };
    thread.run(work(f.ingestBatch), () => redis.send(command));
  }

  function answerApplied(): void {
    while (unapplied[0] && unapplied[0].position <= position) unapplied.shift()?.answer();
  }

  /** Until nothing is found. */
  function read(): void {
    isReading = true;
    let count = 0;
    const found = () => {
      for (let i = 0; i < count; i += 1) deliver((position += 1));
      answerApplied();
      isReading = false;
      if (position < notified) read();
    };
    redis.send({
      isWrite: false,
      run: () => {
        count = Math.min(log.newest - position, MAX_READ);
        return f.redisReadPage + count * f.redisReadEvent;
      },
      done: () => thread.run(work(f.readPage + count * f.readEvent), found),
    });
  }

  function deliver(event: number): void {
    const recipients = recipientsOf(event);
    if (recipients === 0) return;
    const sendAll = () => thread.run(work(f.execute / 2 + recipients * f.send));
    thread.run(work(f.execute / 2), () => call(sendAll));
  }

  return {
    thread,
    operation,
    webhook,
    notify(): void {
      notified = log.newest;
      if (!isReading && position < notified) read();
    },
  };
}

function randomKind(chance: number): Kind {
  let left = chance;
  const found = MIX.find(({ share }) => (left -= share) < 0) ?? MIX[0];
  if (!found) throw new Error('the mix must have a kind of operation, but is empty');
  return found;
}

/** Random arrivals (Poisson), distributed round-robin. */
export function simulate({
  load,
  instances: n,
  figures,
  seconds,
  connections = 0,
}: Run): Simulated {
  const timeline = createTimeline();
  const random = createRandom(1);
  const endUs = seconds * 1e6;
  const recorder = { isOn: () => timeline.now >= endUs * WARM_UP, waits: [] as number[] };
  const answered: number[] = [];
  const flushUs = () => random.lognormal(figures.redisFlush, FLUSH_VARIATION);
  const redis = createRedis(timeline, flushUs, recorder);
  const log = { newest: 0 };
  const notifyAll = () => all.forEach(({ notify }) => notify());
  const shared: Shared = { timeline, random, recorder, figures, redis, log, notifyAll };

  // An event for few sockets is delivered by one instance, an event for many by each.
  const isForAll = load.recipients >= n;
  const instanceOf = (event: number) => Math.floor(createRandom(event).uniform() * n);
  const all = Array.from({ length: n }, (_, i) =>
    createInstance(shared, (event) => {
      if (isForAll) return load.recipients / n;
      return load.recipients > 0 && instanceOf(event) === i ? load.recipients : 0;
    }),
  );

  function arrivals(perSecond: number, arrive: (instance: (typeof all)[number]) => void): void {
    if (perSecond === 0) return;
    let count = 0;
    const next = () =>
      timeline.after(random.exponential(1e6 / perSecond), () => {
        arrive(all[(count += 1) % n]!);
        next();
      });
    next();
  }

  const timed = (done = () => {}) => {
    const since = timeline.now;
    return () => {
      if (recorder.isOn()) answered.push(timeline.now - since);
      done();
    };
  };
  arrivals(load.operations, (instance) => instance.operation(randomKind(random.uniform())));
  arrivals(load.webhooks, (instance) => instance.webhook(timed()));
  const sendNext = (): void => all[0]?.webhook(timed(sendNext));
  for (let i = 0; i < connections; i += 1) sendNext();
  timeline.run(endUs);

  const recordedUs = endUs * (1 - WARM_UP);
  const busyUs = all.reduce((sum, { thread }) => sum + thread.busyUs, 0);
  return {
    instanceUse: busyUs / n / recordedUs,
    redisUse: redis.busyUs / recordedUs,
    waitUs: p99(recorder.waits),
    answeredUs: p99(answered),
    answeredPerSecond: answered.length / (recordedUs / 1e6),
  };
}

function p99(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.floor(0.99 * sorted.length)] ?? 0;
}
