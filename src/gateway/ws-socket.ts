import type { Server } from 'graphql-ws';

import { CLOSE } from './ws-close.ts';
import { type WsConnection, answer, close, counted, release } from './ws-connection.ts';

/** Joins a socket to the protocol. */
export function attach(
  connection: WsConnection,
  opened: Server<WsConnection>['opened'],
  onGone: (connection: WsConnection) => void,
): void {
  const { ws } = connection;
  ws.on('error', () => release(connection));
  ws.on('ping', () => counted(connection));
  ws.on('pong', () => {
    connection.hasPonged = counted(connection);
  });
  ws.on('close', () => {
    release(connection);
    onGone(connection);
  });
  connection.over = opened(
    {
      protocol: ws.protocol,
      send: (text) => answer(connection, text),
      close: (code = CLOSE.badRequest) => close(connection, code),
      onMessage(handle) {
        ws.on('message', (data: Buffer, isBinary: boolean) => {
          if (!connection.isOpen || !counted(connection)) return;
          if (isBinary) return close(connection, CLOSE.badRequest);
          handle(data.toString()).then(
            () => handled(connection),
            // What it can't make sense of, it throws: a type that only servers send, for one.
            () => close(connection, CLOSE.badRequest),
          );
        });
      },
    },
    connection,
  );
}

function handled(connection: WsConnection): void {
  connection.onHandled?.();
  connection.onHandled = undefined;
}
