import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { handleProtocols } from 'graphql-ws';
import { WebSocketServer } from 'ws';

import type { Limits } from '../config.ts';
import type { LiveConnections } from './live-connections.ts';
import { openConnection } from './ws-connection.ts';
import { createSocketCount } from './ws-limits.ts';
import { type ProtocolParts, createProtocol } from './ws-protocol.ts';
import { refuseUpgrade, upgradeProblem } from './ws-upgrade.ts';

export interface WsDoorParts extends ProtocolParts {
  readonly limits: Limits;
  readonly live: LiveConnections;
  readonly allowedOrigins: readonly string[];
  readonly isServing: () => boolean;
  readonly onSlow: () => void;
}

/** WebSocket `/graphql`: subscriptions over graphql-transport-ws. */
export function createWsDoor(parts: WsDoorParts) {
  const { limits, live } = parts;
  const allowed = new Set(parts.allowedOrigins);
  const { opened } = createProtocol(parts);
  const viewers = createSocketCount(limits.socketsPerViewer);
  let size = 0;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: limits.frameBytes,
    handleProtocols,
    // One message a turn: graphql-ws would lose sight of an operation that is begun, completed and begun again in one.
    allowSynchronousEvents: false,
  });
  const connectionParts = { limits, live, viewers, onSlow: parts.onSlow, opened };

  return {
    /** Open sockets. */
    get size() {
      return size;
    },
    upgrade(req: IncomingMessage, socket: Duplex, head: Buffer): void {
      const problem = parts.isServing() ? upgradeProblem(req, allowed) : 503;
      if (problem !== undefined) return refuseUpgrade(socket, problem);
      server.handleUpgrade(req, socket, head, (ws) => {
        size += 1;
        ws.once('close', () => (size -= 1));
        openConnection(ws, socket as Socket, connectionParts);
      });
    },
  };
}
