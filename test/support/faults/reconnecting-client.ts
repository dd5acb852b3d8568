import { setTimeout } from 'node:timers/promises';

import { WebSocket } from 'ws';

import { PROTOCOL, initWith, socketUrl, subscribe, until } from '../ws/raw-socket.ts';

/** A subscriber that reconnects after a random pause whenever it is disconnected, as clients of graphql-ws do. */
export interface ReconnectingClient {
  /** Resolves once it was acknowledged so many times. */
  connected(times: number): Promise<void>;
  /** Resolves once it received so many events. */
  received(events: number): Promise<void>;
  close(): void;
}

const QUERY = 'subscription { noteReady { progressNote { isLoading } } }';
const MAX_PAUSE_MS = 1_000;

export function createReconnectingClient(url: string, token: string): ReconnectingClient {
  const counts = { connection_ack: 0, next: 0 };
  let isClosed = false;
  let socket: WebSocket;

  function dial(): void {
    socket = new WebSocket(socketUrl(url), PROTOCOL);
    socket.on('open', () => socket.send(JSON.stringify(initWith(token))));
    socket.on('error', () => undefined);
    socket.on('close', () => void again());
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { readonly type: keyof typeof counts };
      counts[type] += 1;
      if (type === 'connection_ack') socket.send(JSON.stringify(subscribe('1', QUERY)));
    });
  }

  async function again(): Promise<void> {
    await setTimeout(Math.random() * MAX_PAUSE_MS);
    if (!isClosed) dial();
  }

  const reached = (name: keyof typeof counts, count: number): Promise<void> =>
    until(() => counts[name] >= count, 50, 50_000);

  dial();
  return {
    connected: (times) => reached('connection_ack', times),
    received: (events) => reached('next', events),
    close() {
      isClosed = true;
      socket.terminate();
    },
  };
}
