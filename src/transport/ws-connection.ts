import type { Socket } from 'node:net';

import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import type { WebSocket } from 'ws';

import type { Limits } from '../config.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { LiveConnection, LiveConnections } from './live-connections.ts';
import { type OutboxLimits, createOutbox } from './outbox.ts';
import type { Payload } from './payload.ts';
import { CLOSE, reasonFor } from './ws-close.ts';
import { socketOutlet } from './ws-frame.ts';
import { type SocketCount, createMessageRate } from './ws-limits.ts';

/** A reader that takes nothing for so long, while something waits for it, is not reading any more. */
const STALLED_MS = 10_000;

type ConnectionLimits = OutboxLimits &
  Pick<
    Limits,
    'socketPingMs' | 'socketMessages' | 'socketMessagesWindowMs' | 'operationsPerSocket'
  >;

export interface ConnectionParts {
  readonly limits: ConnectionLimits;
  readonly live: LiveConnections;
  readonly viewers: SocketCount;
  readonly onSlow: () => void;
  /** The protocol: gets what the client sends, and answers what is to be done when the socket is over. */
  readonly opened: (socket: ProtocolSocket, connection: WsConnection) => () => Promise<void>;
}

/** One client's socket as the protocol sees it. */
export interface WsConnection {
  /** Undefined until the client has said who it is. */
  readonly viewer: Viewer | undefined;
  /** False once it is on its way to be closed: nothing is sent any more. */
  readonly isOpen: boolean;
  operations: number;
  readonly mayBegin: () => boolean;
  /** False, and closed, if the viewer has too many sockets already. */
  welcome(viewer: Viewer): boolean;
  /** `head` is the message up to its payload. */
  deliver(head: string, payload: Payload): void | Promise<void>;
  close(code: number): void;
}

export function openConnection(ws: WebSocket, raw: Socket, parts: ConnectionParts): void {
  const { limits, live } = parts;
  const pingEveryMs = limits.socketPingMs - live.beatMs;
  let viewer: Viewer | undefined;
  let isOpen = true;
  let hasPonged = true;
  let pingAt = performance.now() + pingEveryMs;
  let over: (() => Promise<void>) | undefined;

  /** What it holds is let go of now: the client may take its time to agree, or never do. */
  function release(): void {
    if (!isOpen) return;
    isOpen = false;
    outbox.close();
    if (viewer) parts.viewers.leave(viewer.subject);
    void over?.();
  }

  function close(code: number): void {
    if (!isOpen) return;
    release();
    ws.close(code, reasonFor(code));
  }

  function closeSlow(): void {
    if (isOpen) parts.onSlow();
    close(CLOSE.tryAgainLater);
  }

  const outbox = createOutbox(socketOutlet(raw), limits, closeSlow);

  const isExpired = (): boolean =>
    viewer?.expiresAt !== undefined && Date.now() >= viewer.expiresAt;

  const isFlood = createMessageRate(limits.socketMessages, limits.socketMessagesWindowMs);

  /** Everything a client sends counts, protocol pings and pongs too: each costs an answer or a look. */
  const counted = (): boolean => {
    if (isOpen && isFlood()) close(CLOSE.tryAgainLater);
    return isOpen;
  };

  const connection: WsConnection = {
    operations: 0,
    get viewer() {
      return viewer;
    },
    get isOpen() {
      return isOpen;
    },
    mayBegin: () => connection.operations < limits.operationsPerSocket,
    welcome(who) {
      if (!isOpen) return false;
      const isWelcome = parts.viewers.enter(who.subject);
      if (isWelcome) viewer = who;
      else close(CLOSE.tryAgainLater);
      return isWelcome;
    },
    deliver(head, payload) {
      if (isExpired()) close(CLOSE.forbidden);
      if (isOpen) return outbox.put({ head, payload });
    },
    close,
  };

  const kept: LiveConnection = {
    beat(now) {
      if (isExpired()) close(CLOSE.forbidden);
      if (outbox.isStalled(now, STALLED_MS)) closeSlow();
      if (now < pingAt) return;
      if (!hasPonged) return ws.terminate();
      hasPonged = false;
      pingAt = now + pingEveryMs;
      ws.ping();
    },
    end: (ending) => close(ending === 'shutdown' ? CLOSE.goingAway : CLOSE.tryAgainLater),
    destroy: () => ws.terminate(),
  };

  live.add(kept);
  ws.on('error', release);
  ws.on('ping', counted);
  ws.on('pong', () => {
    hasPonged = counted();
  });
  ws.on('close', () => {
    release();
    live.remove(kept);
  });
  over = parts.opened(
    {
      protocol: ws.protocol,
      send(text) {
        if (!isOpen) return;
        // Answers of the protocol itself don't wait in the queue, but neither may they pile up.
        if (raw.writableLength > limits.socketQueueBytes) return closeSlow();
        ws.send(text);
      },
      close: (code = CLOSE.badRequest) => close(code),
      onMessage(handle) {
        ws.on('message', (data: Buffer, isBinary: boolean) => {
          if (!counted()) return;
          if (isBinary) return close(CLOSE.badRequest);
          // What it can't make sense of, it throws: a type that only servers send, for one.
          handle(data.toString()).catch(() => close(CLOSE.badRequest));
        });
      },
    },
    connection,
  );
}
