import type { Agenda } from './agenda.ts';
import type { Random } from './random.ts';

export interface UpstreamLimits {
  /** All instances together. */
  readonly perSecond: number;
  /** Each instance. */
  readonly inFlight: number;
  readonly latencyUs: number;
  /** Its standard deviation, as a share of it. */
  readonly variation: number;
}

/** The Partner API as one instance may use it: so many calls a second, so many at once. */
export interface Upstream {
  call(done: () => void): void;
}

export function createUpstream(agenda: Agenda, random: Random, limits: UpstreamLimits): Upstream {
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let freeAt = 0;

  function start(done: () => void): void {
    inFlight += 1;
    const startsAt = Math.max(agenda.now, freeAt);
    freeAt = startsAt + 1e6 / limits.perSecond;
    const takes = random.lognormal(limits.latencyUs, limits.variation);
    agenda.after(startsAt - agenda.now + takes, () => {
      inFlight -= 1;
      const next = waiting.shift();
      if (next) start(next);
      done();
    });
  }

  return {
    call(done) {
      if (inFlight < limits.inFlight) start(done);
      else waiting.push(done);
    },
  };
}
