import type { Limits } from '../config.ts';

/** A connection that stays open: a socket or an event stream. */
export interface OpenConnection {
  /**
   * Called a few times a second; `now` is on the clock of `performance.now()`. Late, this process was busy or suspended:
   * what clients have sent meanwhile has to be read before they are judged by it.
   */
  check(now: number, isLate: boolean): void;
  /** In order, so that the client knows to come back. */
  end(): void;
  /** At once. */
  destroy(): void;
}

const MOST_CHECK_MS = 250;

/** All sockets and event streams, with one timer: a timer for each would take more memory than its socket. */
export function createOpenConnections({ socketPingMs, socketsPerViewer }: Limits) {
  const checkMs = Math.min(MOST_CHECK_MS, Math.ceil(socketPingMs / 4));
  const open = new Set<OpenConnection>();
  const countBySubject = new Map<string, number>();
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
    /** A check less than configured: nobody who is gone is kept for longer than two pings. */
    pingEveryMs: socketPingMs - checkMs,
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
    /** False if the viewer has as many as there may be. */
    enter(subject: string): boolean {
      const count = countBySubject.get(subject) ?? 0;
      if (count >= socketsPerViewer) return false;
      countBySubject.set(subject, count + 1);
      return true;
    },
    leave(subject: string): void {
      const count = countBySubject.get(subject) ?? 0;
      if (count > 1) countBySubject.set(subject, count - 1);
      else countBySubject.delete(subject);
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
