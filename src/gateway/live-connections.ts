/** Why a connection is ended from this side. */
export type Ending = 'shutdown' | 'lost';

/** What can be done to a connection that stays open. */
export interface Upkeep<C> {
  /** Called a few times a second; `now` is on the clock of `performance.now()`. */
  beat(connection: C, now: number): void;
  /** In order, so that the client knows to come back. */
  end(connection: C, ending: Ending): void;
  /** At once. */
  destroy(connection: C): void;
}

export interface LiveConnections<C> {
  readonly size: number;
  readonly beatMs: number;
  add(connection: C): void;
  remove(connection: C): void;
  endAll(ending: Ending): void;
  /** Ends all in order, and cuts those that have not gone when `graceMs` are over. */
  close(graceMs: number): Promise<void>;
}

const MOST_BEAT_MS = 250;

/** Whatever stays open at one door: one timer for all of it, since each would take more memory than its socket. */
export function createLiveConnections<C>(pingMs: number, upkeep: Upkeep<C>): LiveConnections<C> {
  const beatMs = Math.min(MOST_BEAT_MS, Math.ceil(pingMs / 4));
  const open = new Set<C>();
  let timer: NodeJS.Timeout | undefined;
  let lastBeat = 0;
  let onEmpty: (() => void) | undefined;

  function beat(): void {
    const now = performance.now();
    const isLate = now - lastBeat > 4 * beatMs;
    lastBeat = now;
    // This process was busy or asleep: what clients have sent meanwhile must be read before they are judged.
    if (isLate) return;
    for (const connection of open) upkeep.beat(connection, now);
  }

  function endAll(ending: Ending): void {
    for (const connection of open) upkeep.end(connection, ending);
  }

  return {
    get size() {
      return open.size;
    },
    beatMs,
    add(connection) {
      open.add(connection);
      if (timer) return;
      lastBeat = performance.now();
      timer = setInterval(beat, beatMs).unref();
    },
    remove(connection) {
      open.delete(connection);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
      onEmpty?.();
    },
    endAll,
    async close(graceMs) {
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      endAll('shutdown');
      const impatience = setTimeout(() => {
        for (const connection of open) upkeep.destroy(connection);
      }, graceMs);
      await promise;
      clearTimeout(impatience);
    },
  };
}
