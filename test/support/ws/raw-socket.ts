import { once } from 'node:events';

import { type ClientOptions, WebSocket } from 'ws';

import { type Gateway, tokenFor } from '../gateway.ts';

export interface Message {
  readonly id?: string;
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- payloads are asserted on, not computed with
  readonly payload?: any;
}

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket without a client library: sends anything. */
export interface RawSocket extends Disposable {
  readonly ws: WebSocket;
  readonly closed: Promise<Closed>;
  /** A string goes as it is, a Buffer as a binary frame, anything else as JSON. */
  send(message: unknown): void;
  /** The next message that has not been read yet. */
  next(): Promise<Message>;
  /** Messages that were received and not read yet. */
  readonly untaken: readonly Message[];
  /** Stops reading, as a client that hangs does. */
  stall(): void;
  resume(): void;
}

export interface DialOptions extends ClientOptions {
  readonly path?: string;
  readonly protocols?: readonly string[];
}

export const PROTOCOL = 'graphql-transport-ws';

/** The address of the gateway's WebSocket. */
export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;

export function dial(gateway: Pick<Gateway, 'url'>, options: DialOptions = {}): RawSocket {
  const { path = '/graphql', protocols = [PROTOCOL], ...others } = options;
  const ws = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}`, [...protocols], others);
  const untaken: Message[] = [];
  const takers: ((message: Message) => void)[] = [];
  ws.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Message;
    const taker = takers.shift();
    if (taker) taker(message);
    else untaken.push(message);
  });
  const closed = new Promise<Closed>((resolve) => {
    ws.on('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  ws.on('error', () => undefined);
  return {
    ws,
    closed,
    untaken,
    send: (message) =>
      ws.send(
        typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
      ),
    next: () => {
      const message = untaken.shift();
      if (message) return Promise.resolve(message);
      return new Promise((resolve) => takers.push(resolve));
    },
    stall: () => ws.pause(),
    resume: () => ws.resume(),
    [Symbol.dispose]: () => ws.terminate(),
  };
}

/** Connected and acknowledged: as the partner itself, unless another token is given. */
export async function dialIn(
  gateway: Pick<Gateway, 'url'>,
  token?: string,
  options?: DialOptions,
): Promise<RawSocket> {
  const socket = dial(gateway, options);
  await once(socket.ws, 'open');
  socket.send(initWith(token ?? (await tokenFor(['partner']))));
  const answer = await Promise.race([socket.next(), socket.closed]);
  if (!('type' in answer)) throw new Error(`wanted connection_ack, but got closed ${answer.code}`);
  return socket;
}

export const initWith = (token: string) => ({
  type: 'connection_init',
  payload: { authorization: `Bearer ${token}` },
});

export const subscribe = (id: string, query: string, variables?: object) => ({
  id,
  type: 'subscribe',
  payload: { query, variables },
});

/** Resolves once the subscription has begun, which the protocol does not acknowledge. For those that need no look-up first. */
export async function subscribed(
  gateway: Gateway,
  socket: RawSocket,
  id: string,
  query: string,
  variables?: object,
): Promise<void> {
  const before = await gauge(gateway, 'gateway_subscriptions');
  socket.send(subscribe(id, query, variables));
  await until(async () => (await gauge(gateway, 'gateway_subscriptions')) > before);
}

/** The value of one of the gateway's metrics. */
export async function gauge(gateway: { readonly url: string }, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/**
 * Polls what has no event to wait for: often at first, then every `slowestMs`, since polling costs the server as much
 * as work. Times out before the test does, with the condition and its line in the message.
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  slowestMs: number = 50,
  withinMs: number = 50_000,
): Promise<void> {
  const tooLate = new Error(`waited ${withinMs / 1_000} s, but this never held: ${String(holds)}`);
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => deadline.reject(tooLate), withinMs);
  try {
    for (let ms = 4; !(await Promise.race([deadline.promise, holds()])); ms *= 1.5) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(ms, slowestMs)));
    }
  } finally {
    clearTimeout(timer);
  }
}
