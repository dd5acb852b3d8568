import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const FORGET_EVERY_MS = 1_000;

/** Whether any client still has to take what was written for it. */
export function watchAnswers(server: Server) {
  let sockets: Socket[] = [];
  server.on('connection', (socket) => void sockets.push(socket));
  // Now and then, and not with a listener each: thousands of subscribers would carry it for ever.
  const forget = (): void => void (sockets = sockets.filter(({ destroyed }) => !destroyed));
  const forgetting = setInterval(forget, FORGET_EVERY_MS).unref();
  return {
    areUnderway: () =>
      sockets.some(({ destroyed, writableLength }) => !destroyed && writableLength > 0),
    stop: () => clearInterval(forgetting),
  };
}
