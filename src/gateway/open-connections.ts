/** What can be done with a connection that stays open. */
export interface Upkeep<C> {
  /**
   * Called a few times a second; `now` is on the clock of `performance.now()`. Late, this process was busy or asleep:
   * what clients have sent meanwhile has to be read before they are judged by it.
   */
  check(connection: C, now: number, isLate: boolean): void;
  /** In order, so that the client knows to come back. */
  end(connection: C): void;
  /** At once. */
  destroy(connection: C): void;
}

export interface OpenConnections<C> {
  readonly size: number;
  readonly checkMs: number;
  add(connection: C): void;
  remove(connection: C): void;
  /** Ends all in order, and destroys those that are still there when `graceMs` are over. */
  close(graceMs: number): Promise<void>;
}

const MOST_CHECK_MS = 250;

/** The connections of one transport: one timer for all, since each would take more memory than its socket. */
export function createOpenConnections<C>(pingMs: number, upkeep: Upkeep<C>): OpenConnections<C> {
  const checkMs = Math.min(MOST_CHECK_MS, Math.ceil(pingMs / 4));
  const open = new Set<C>();
  let timer: NodeJS.Timeout | undefined;
  let lastCheck = 0;
  let onEmpty: (() => void) | undefined;

  function check(): void {
    const now = performance.now();
    const isLate = now - lastCheck > 4 * checkMs;
    lastCheck = now;
    for (const connection of open) upkeep.check(connection, now, isLate);
  }

  return {
    get size() {
      return open.size;
    },
    checkMs,
    add(connection) {
      open.add(connection);
      if (timer) return;
      lastCheck = performance.now();
      timer = setInterval(check, checkMs).unref();
    },
    remove(connection) {
      open.delete(connection);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
      onEmpty?.();
    },
    async close(graceMs) {
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      for (const connection of open) upkeep.end(connection);
      const destroying = setTimeout(() => {
        for (const connection of open) upkeep.destroy(connection);
      }, graceMs);
      await promise;
      clearTimeout(destroying);
    },
  };
}
