import type { Agenda } from './agenda.ts';
import { VARIATION } from './arithmetic.ts';
import type { Figures } from './figures.ts';
import { type Kind, pieceUs } from './load.ts';
import type { Random } from './random.ts';
import type { RedisLoop } from './redis-loop.ts';
import type { Samples } from './samples.ts';
import type { SharedLog } from './shared-log.ts';
import { type Thread, createThread } from './thread.ts';
import type { Upstream } from './upstream-gate.ts';

/** As in the gateway: events of one script, of one page; how often their links are written, and those of how many at once. */
const MOST_TAKEN = 200;
const MAX_READ = 500;
const LINKS_EVERY_US = 250_000;
const EVENTS_OF_LINKS = 230;

export interface Instance {
  readonly thread: Thread;
  ask(kind: Kind): void;
  takeIn(done: () => void): void;
  /** The log has grown. */
  wake(): void;
}

export interface InstanceParts {
  readonly agenda: Agenda;
  readonly random: Random;
  readonly figures: Figures;
  readonly redis: RedisLoop;
  readonly log: SharedLog;
  readonly upstream: Upstream;
  readonly isMeasured: () => boolean;
  readonly waits: Samples;
  /** How many recipients of the event are here. */
  readonly recipientsOf: (event: number) => number;
}

/** One gateway: what its one thread does, and what it waits for in between. */
export function createInstance(parts: InstanceParts): Instance {
  const { agenda, random, figures: f, redis, log, upstream } = parts;
  const thread = createThread(agenda, parts.isMeasured, parts.waits);
  const appending: (() => void)[] = [];
  let isAppending = false;
  let isReading = false;
  let position = 0;
  let unlinked = 0;
  let isLinking = false;

  /** The collector's share is in the figures; it comes in pauses. */
  function work(us: number): number {
    const pause =
      random.uniform() < (us * f.gcShare) / f.gcPause ? random.exponential(f.gcPause) : 0;
    return random.lognormal(us * (1 - f.gcShare), VARIATION) + pause;
  }

  function ask(kind: Kind): void {
    const us = pieceUs(kind, f);
    const level = (at: number): void => {
      const calls = kind.calls[at];
      if (calls === undefined) return;
      let left = calls;
      const answered = () => {
        left -= 1;
        if (left === 0) level(at + 1);
      };
      for (let i = 0; i < calls; i += 1) upstream.call(() => thread.submit(work(us), answered));
    };
    thread.admit(work(us), () => level(0));
  }

  function append(): void {
    const group = appending.splice(0, MOST_TAKEN);
    isAppending = group.length > 0;
    if (!isAppending) return;
    thread.submit(work(f.takeInGroup), () =>
      redis.write(f.redisAppendGroup + group.length * f.redisAppendEvent, () => {
        log.append(group.length);
        for (const done of group) done();
        append();
      }),
    );
  }

  function read(): void {
    isReading = position < log.newest;
    if (!isReading) return;
    redis.read(f.redisReadGroup, () => {
      const from = position;
      position = Math.min(log.newest, from + MAX_READ);
      const count = position - from;
      thread.submit(work(f.readGroup + count * f.readEvent), () => {
        for (let event = from; event < from + count; event += 1) tell(event);
        link(count);
        read();
      });
    });
  }

  function tell(event: number): void {
    const recipients = parts.recipientsOf(event);
    if (recipients === 0) return;
    thread.submit(work(f.execute / 2), () =>
      upstream.call(() => thread.submit(work(f.execute / 2 + recipients * f.send))),
    );
  }

  function link(count: number): void {
    unlinked += count;
    if (isLinking) return;
    isLinking = true;
    agenda.after(LINKS_EVERY_US, writeLinks);
  }

  function writeLinks(): void {
    const count = Math.min(unlinked, EVENTS_OF_LINKS);
    redis.write(count * f.redisReadEvent, () => {
      unlinked -= count;
      if (unlinked >= EVENTS_OF_LINKS) return writeLinks();
      isLinking = false;
      if (unlinked > 0) link(0);
    });
  }

  return {
    thread,
    ask,
    takeIn: (done) =>
      thread.admit(work(f.takeInEvent), () => {
        appending.push(done);
        if (!isAppending) append();
      }),
    wake() {
      if (!isReading) read();
    },
  };
}
