import type { Socket } from 'node:net';

import type { WebSocket } from 'ws';

import type { Limits } from '../config.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { type Backlog, createBacklog } from './backlog.ts';
import type { Payload } from './payload.ts';
import { CLOSE, reasonFor } from './ws-close.ts';
import { type SocketItem, sizeOfItem, writeFrame } from './ws-frame.ts';
import type { SocketCount } from './ws-limits.ts';

/** A reader that takes nothing for so long, while something waits for it, is not reading any more. */
const STALLED_MS = 10_000;

/** What all sockets share. */
export interface SocketRules {
  readonly limits: Limits;
  /** A beat less than configured: nobody who is gone is kept for longer than two pings. */
  readonly pingEveryMs: number;
  readonly viewers: SocketCount;
  readonly onSlow: () => void;
}

/** One client's socket. A record, and functions over it: there are thousands, and each closure of each would count. */
export interface WsConnection {
  readonly ws: WebSocket;
  readonly raw: Socket;
  readonly rules: SocketRules;
  /** Undefined until the client has said who it is. */
  viewer: Viewer | undefined;
  /** False once it is on its way to be closed: nothing is sent any more. */
  isOpen: boolean;
  operations: number;
  messages: number;
  windowEndsAt: number;
  pingAt: number;
  hasPonged: boolean;
  /** There while the reader is behind. */
  backlog: Backlog<SocketItem> | undefined;
  /** To be done once the protocol is through with the message at hand. */
  onHandled: (() => void) | undefined;
  /** Ends what the protocol has running. */
  over: (() => Promise<void>) | undefined;
}

export function createConnection(ws: WebSocket, raw: Socket, rules: SocketRules): WsConnection {
  return {
    ws,
    raw,
    rules,
    viewer: undefined,
    isOpen: true,
    operations: 0,
    messages: 0,
    windowEndsAt: 0,
    pingAt: performance.now() + rules.pingEveryMs,
    hasPonged: true,
    backlog: undefined,
    onHandled: undefined,
    over: undefined,
  };
}

/** What it holds is let go of now: the client may take its time to agree, or never do. */
export function release(connection: WsConnection): void {
  if (!connection.isOpen) return;
  connection.isOpen = false;
  connection.backlog?.drop();
  if (connection.viewer) connection.rules.viewers.leave(connection.viewer.subject);
  void connection.over?.();
}

export function close(connection: WsConnection, code: number): void {
  if (!connection.isOpen) return;
  release(connection);
  connection.ws.close(code, reasonFor(code));
}

function closeSlow(connection: WsConnection): void {
  if (connection.isOpen) connection.rules.onSlow();
  close(connection, CLOSE.tryAgainLater);
}

/** False, and closed, if the viewer has too many sockets already. */
export function welcome(connection: WsConnection, viewer: Viewer): boolean {
  if (!connection.isOpen) return false;
  const isWelcome = connection.rules.viewers.enter(viewer.subject);
  if (isWelcome) connection.viewer = viewer;
  else close(connection, CLOSE.tryAgainLater);
  return isWelcome;
}

/** False, and closed, if the client sends too much. Everything counts, pings too: each costs an answer or a look. */
export function counted(connection: WsConnection): boolean {
  const { socketMessages, socketMessagesWindowMs } = connection.rules.limits;
  const now = performance.now();
  if (now >= connection.windowEndsAt) {
    connection.windowEndsAt = now + socketMessagesWindowMs;
    connection.messages = 0;
  }
  connection.messages += 1;
  if (connection.messages > socketMessages) close(connection, CLOSE.tryAgainLater);
  return connection.isOpen;
}

/** An answer of the protocol itself. It does not wait in a queue, but neither may such answers pile up. */
export function answer(connection: WsConnection, text: string): void {
  if (!connection.isOpen) return;
  const { raw, rules, ws } = connection;
  if (raw.writableLength > rules.limits.socketQueueBytes) closeSlow(connection);
  else ws.send(text);
}

/** An event. The promise is for whoever can wait until the reader has caught up. */
export function deliver(
  connection: WsConnection,
  head: string,
  payload: Payload,
): void | Promise<void> {
  if (isExpired(connection)) close(connection, CLOSE.forbidden);
  if (!connection.isOpen) return;
  const { raw } = connection;
  if (connection.backlog && !connection.backlog.hasCaughtUp) {
    if (!connection.backlog.put({ head, payload })) return closeSlow(connection);
    return connection.backlog.caughtUp;
  }
  connection.backlog = undefined;
  writeFrame(raw, head, payload);
  // The system took it all, as it nearly always does; a callback for each would cost more than the rest.
  if (raw.writableLength === 0) return;
  connection.backlog = createBacklog(outletOf(raw), connection.rules.limits);
  raw.write(NO_BYTES, connection.backlog.flushed);
  return connection.backlog.caughtUp;
}

const NO_BYTES = Buffer.alloc(0);

const outletOf = (raw: Socket) => ({
  write: ({ head, payload }: SocketItem, onFlushed: () => void) =>
    writeFrame(raw, head, payload, onFlushed),
  sizeOf: sizeOfItem,
  isFull: () => raw.writableLength > 0,
  bufferedBytes: () => raw.writableLength,
});

const isExpired = ({ viewer }: WsConnection): boolean =>
  viewer?.expiresAt !== undefined && Date.now() >= viewer.expiresAt;

export function beat(connection: WsConnection, now: number): void {
  const { ws, backlog, rules } = connection;
  if (isExpired(connection)) close(connection, CLOSE.forbidden);
  if (backlog && !backlog.hasCaughtUp && backlog.isStalled(now, STALLED_MS)) closeSlow(connection);
  if (now < connection.pingAt) return;
  if (!connection.hasPonged) return ws.terminate();
  connection.hasPonged = false;
  connection.pingAt = now + rules.pingEveryMs;
  ws.ping();
}
