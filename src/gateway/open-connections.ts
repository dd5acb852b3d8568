/** A connection that stays open: a socket or an event stream. */
export interface OpenConnection {
  /**
   * Called a few times a second; `now` is on the clock of `performance.now()`. Late, this process was busy or asleep:
   * what clients have sent meanwhile has to be read before they are judged by it.
   */
  check(now: number, isLate: boolean): void;
  /** In order, so that the client knows to come back. */
  end(): void;
  /** At once. */
  destroy(): void;
}

export type OpenConnections = ReturnType<typeof createOpenConnections>;

const MOST_CHECK_MS = 250;

/** The connections of one transport: one timer for all, since each would take more memory than its socket. */
export function createOpenConnections(pingMs: number) {
  const checkMs = Math.min(MOST_CHECK_MS, Math.ceil(pingMs / 4));
  const open = new Set<OpenConnection>();
  let timer: NodeJS.Timeout | undefined;
  let lastCheck = 0;
  let onEmpty: (() => void) | undefined;

  function check(): void {
    const now = performance.now();
    const isLate = now - lastCheck > 4 * checkMs;
    lastCheck = now;
    for (const connection of open) connection.check(now, isLate);
  }

  return {
    get size(): number {
      return open.size;
    },
    checkMs,
    add(connection: OpenConnection): void {
      open.add(connection);
      if (timer) return;
      lastCheck = performance.now();
      timer = setInterval(check, checkMs).unref();
    },
    remove(connection: OpenConnection): void {
      open.delete(connection);
      if (open.size > 0) return;
      clearInterval(timer);
      timer = undefined;
      onEmpty?.();
    },
    /** Ends all in order, and destroys those that are still there when `graceMs` are over. */
    async close(graceMs: number): Promise<void> {
      if (open.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      for (const connection of open) connection.end();
      const destroying = setTimeout(() => {
        for (const connection of open) connection.destroy();
      }, graceMs);
      await promise;
      clearTimeout(destroying);
    },
  };
}

/** How many connections that stay open each viewer has: sockets and event streams. */
export function createViewerConnections(most: number) {
  const counts = new Map<string, number>();
  return {
    /** False if the viewer has as many as there may be. */
    enter(subject: string): boolean {
      const count = counts.get(subject) ?? 0;
      if (count >= most) return false;
      counts.set(subject, count + 1);
      return true;
    },
    leave(subject: string): void {
      const count = counts.get(subject) ?? 0;
      if (count > 1) counts.set(subject, count - 1);
      else counts.delete(subject);
    },
  };
}

export type ViewerConnections = ReturnType<typeof createViewerConnections>;
