import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { handleProtocols } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';

import type { Limits } from '../config.ts';
import { type LiveConnections, createLiveConnections } from './live-connections.ts';
import { CLOSE } from './ws-close.ts';
import {
  type SocketRules,
  type WsConnection,
  beat,
  close,
  createConnection,
} from './ws-connection.ts';
import type { SocketCount } from './ws-limits.ts';
import { type ProtocolParts, createProtocol } from './ws-protocol.ts';
import { attach } from './ws-socket.ts';
import { createTurns } from './ws-turns.ts';
import { refuseUpgrade, upgradeProblem } from './ws-upgrade.ts';

export interface WsDoorParts extends ProtocolParts {
  readonly limits: Limits;
  readonly allowedOrigins: readonly string[];
  readonly viewers: SocketCount;
  readonly isServing: () => boolean;
  readonly onSlow: () => void;
}

export interface WsDoor {
  readonly live: LiveConnections<WsConnection>;
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** WebSocket `/graphql`: subscriptions over graphql-transport-ws. */
export function createWsDoor(parts: WsDoorParts): WsDoor {
  const { limits, onSlow } = parts;
  const allowed = new Set(parts.allowedOrigins);
  const opened = createProtocol(parts);
  const live = createLiveConnections<WsConnection>(limits.socketPingMs, {
    beat,
    end: (connection, ending) =>
      close(connection, ending === 'shutdown' ? CLOSE.goingAway : CLOSE.tryAgainLater),
    destroy: ({ ws }) => ws.terminate(),
  });
  const rules: SocketRules = {
    limits,
    pingEveryMs: limits.socketPingMs - live.beatMs,
    viewers: parts.viewers,
    onSlow,
  };
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frameBytes,
    handleProtocols,
    // One message a turn: graphql-ws would lose sight of an operation that is begun, completed and begun again in one.
    allowSynchronousEvents: false,
  });

  const inTurn = createTurns();
  const welcomed = (ws: WebSocket, socket: Socket): void => {
    const connection = createConnection(ws, socket, rules);
    live.add(connection);
    attach(connection, opened, live.remove);
  };

  return {
    live,
    upgrade(req, socket, head) {
      const problem = parts.isServing() ? upgradeProblem(req, allowed) : 503;
      if (problem !== undefined) return refuseUpgrade(socket, problem);
      // One who leaves while waiting is nobody's failure.
      socket.on('error', ignored);
      inTurn(() => server.handleUpgrade(req, socket, head, (ws) => welcomed(ws, socket as Socket)));
    },
  };
}

const ignored = (): void => undefined;
