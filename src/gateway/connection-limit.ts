import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** More open sockets than this are somebody's mistake, or somebody's attack. */
const MOST_CONNECTIONS = 30_000;
const LEAST_CONNECTIONS = 16;
/** For files, the store and the door itself. The system refuses whatever comes once there are none left. */
const OWN_DESCRIPTORS = 64;
/** From here on those who only stand around have to make room for those who want something. */
const CROWDED = 0.9;
const LOOK_EVERY_MS = 250;
const TELL_EVERY_MS = 10_000;
const SILENT_MS = 1_000;
const MOMENT_MS = 50;

export interface RoomParts {
  /** Connections that the gateway may open itself. */
  readonly callsAtOnce: number;
  /** So many were sent away since it was said last. */
  readonly onRefused: (count: number) => void;
}

/**
 * Keeps connections below what the system allows, so that a webhook still gets in when thousands stand at the door:
 * it comes from a sender who says what they want, and waits for nothing.
 */
export function keepRoom(server: Server, { callsAtOnce, onRefused }: RoomParts) {
  const most = Math.min(MOST_CONNECTIONS, descriptors() - OWN_DESCRIPTORS - callsAtOnce);
  server.maxConnections = Math.max(LEAST_CONNECTIONS, most);
  const silent = watchSilent(server);
  let [lookedAt, toldAt, refused] = [0, -Infinity, 0];

  /** Those who are done go by themselves, after five seconds. Those who never said anything would stay. */
  const makeRoom = (): void => silent.cut(SILENT_MS);

  function look(): void {
    const now = performance.now();
    if (now - lookedAt < LOOK_EVERY_MS) return;
    lookedAt = now;
    server.getConnections((_error, open) => {
      // Not at once: whoever has just come gets a moment to say what they want.
      if (open >= server.maxConnections * CROWDED) setTimeout(makeRoom, MOMENT_MS).unref();
    });
  }

  server.on('connection', look);
  server.on('drop', () => {
    look();
    refused += 1;
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    onRefused(refused);
    [toldAt, refused] = [performance.now(), 0];
  });
  return silent;
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

/**
 * Connections that nothing was sent over yet: browsers open them ahead of need. Node takes them for busy, and
 * would wait for them.
 */
function watchSilent(server: Server) {
  let silent: { readonly socket: Socket; readonly since: number }[] = [];
  server.on('connection', (socket) => void silent.push({ socket, since: performance.now() }));
  // Now and then, and not with a listener each: thousands of subscribers would carry it for ever.
  const forget = (): void => void (silent = silent.filter(({ socket }) => isSilent(socket)));
  const forgetting = setInterval(forget, SILENT_MS).unref();
  return {
    /** Those that have been so for so long. */
    cut(ms: number): void {
      const until = performance.now() - ms;
      for (const { socket, since } of silent)
        if (since <= until && isSilent(socket)) socket.destroy();
    },
    stop: () => clearInterval(forgetting),
  };
}

const isSilent = (socket: Socket): boolean => !socket.destroyed && socket.bytesRead === 0;
