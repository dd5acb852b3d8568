import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** More open sockets than this are somebody's mistake, or somebody's attack. */
const MOST_CONNECTIONS = 30_000;
const LEAST_CONNECTIONS = 16;
/** For files, the store and the server itself. The system refuses whatever comes once there are none left. */
const OWN_DESCRIPTORS = 64;
/** From here on connections that nothing was sent over are closed, for those who want something. */
const CROWDED = 0.9;
const LOOK_EVERY_MS = 250;
const LOG_EVERY_MS = 10_000;
const SILENT_MS = 1_000;
const MOMENT_MS = 50;

export interface ConnectionLimitParts {
  /** Connections that the gateway may open itself. */
  readonly callsAtOnce: number;
  /** So many were refused since it was called last. */
  readonly onRefused: (count: number) => void;
}

/**
 * Keeps connections below what the system allows, so that a webhook is still accepted when thousands are open, and
 * knows which of them are silent: browsers open connections ahead of need, which Node takes for busy.
 */
export function limitConnections(server: Server, { callsAtOnce, onRefused }: ConnectionLimitParts) {
  const most = Math.min(MOST_CONNECTIONS, descriptors() - OWN_DESCRIPTORS - callsAtOnce);
  server.maxConnections = Math.max(LEAST_CONNECTIONS, most);
  let open: { readonly socket: Socket; readonly since: number }[] = [];
  let [lookedAt, loggedAt, refused] = [0, Number.NEGATIVE_INFINITY, 0];

  /** Those that have been silent for so long. */
  function closeSilent(ms: number): void {
    const until = performance.now() - ms;
    for (const { socket, since } of open)
      if (since <= until && socket.bytesRead === 0) socket.destroy();
  }

  function look(): void {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    server.getConnections((_error, count) => {
      // Not at once: a client that has just come gets a moment to say what it wants.
      if (count >= server.maxConnections * CROWDED)
        setTimeout(() => closeSilent(SILENT_MS), MOMENT_MS).unref();
    });
  }

  server.on('connection', (socket) => {
    open.push({ socket, since: performance.now() });
    look();
  });
  server.on('drop', () => {
    look();
    refused += 1;
    if (performance.now() - loggedAt < LOG_EVERY_MS) return;
    onRefused(refused);
    [loggedAt, refused] = [performance.now(), 0];
  });
  // Now and then, and not with a listener each: thousands of subscribers would each keep one.
  const forget = (): void => void (open = open.filter(({ socket }) => !socket.destroyed));
  const forgetting = setInterval(forget, SILENT_MS).unref();

  return {
    closeSilent,
    /** Whether any client has yet to take what was written for it. */
    areWriting: () => open.some(({ socket }) => !socket.destroyed && socket.writableLength > 0),
    stop: () => clearInterval(forgetting),
  };
}

/** Of this process, sockets and files together. Not known everywhere. */
function descriptors(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
