import { setTimeout } from 'node:timers/promises';

import { WebSocket } from 'ws';

import type { GraphQLAnswer } from '../gateway.ts';
import { PROTOCOL, socketUrl, until } from '../ws/raw-socket.ts';

/** A subscriber that reconnects whenever its socket closes, and resumes from its cursor. */
export interface Follower {
  /** The notes of the events it received, in that order, repeats included. */
  readonly received: readonly string[];
  readonly closeCodes: readonly number[];
  /** Of errors that ended a subscription. */
  readonly codes: readonly string[];
  readonly connections: number;
  /** Resolves once it has received events of all of these notes. */
  receives(noteIds: ReadonlySet<string>): Promise<void>;
  /** Breaks its connection without a close frame, and reconnects. */
  drop(): void;
  close(): void;
}

export interface FollowerOptions {
  /** One for each connection. */
  readonly url: () => string;
  readonly token: string;
  readonly after: string;
  readonly filter?: object;
}

interface Message {
  readonly type: string;
  readonly payload?: GraphQLAnswer &
    readonly { readonly extensions: { code: string; oldestCursor?: string } }[];
}

const SUBSCRIPTION = `subscription Follow($after: EventCursor, $filter: EventFilter) {
  events(after: $after, filter: $filter) { cursor ... on ProgressNoteEvent { progressNoteId } } }`;
const PAUSE_MS = 50;

export function follow({ url, token, after, filter }: FollowerOptions): Follower {
  const received: string[] = [];
  const known = new Set<string>();
  const closeCodes: number[] = [];
  const codes: string[] = [];
  let cursor = after;
  let connections = 0;
  let closed = false;
  let socket: WebSocket;

  function take({ type, payload }: Message): void {
    if (type === 'connection_ack') {
      connections += 1;
      const variables = { after: cursor, filter };
      const subscribe = { id: '1', type: 'subscribe', payload: { query: SUBSCRIPTION, variables } };
      return socket.send(JSON.stringify(subscribe));
    }
    if (type === 'error') {
      for (const { extensions } of payload ?? []) {
        codes.push(extensions.code);
        cursor = extensions.oldestCursor ?? cursor;
      }
      return socket.terminate();
    }
    const event = payload?.data?.events;
    if (type !== 'next' || !event) return;
    ({ cursor } = event);
    received.push(event.progressNoteId);
    known.add(event.progressNoteId);
  }

  function dial(): void {
    socket = new WebSocket(socketUrl(url()), PROTOCOL);
    socket.on('open', () =>
      socket.send(
        JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }),
      ),
    );
    socket.on('message', (data: Buffer) => take(JSON.parse(data.toString())));
    socket.on('error', () => undefined);
    socket.on('close', (code) => void again(code));
  }

  async function again(code: number): Promise<void> {
    closeCodes.push(code);
    await setTimeout(PAUSE_MS);
    if (!closed) dial();
  }

  dial();
  return {
    received,
    closeCodes,
    codes,
    get connections() {
      return connections;
    },
    receives: (noteIds) =>
      until(() => known.size >= noteIds.size && noteIds.isSubsetOf(known), 20, 100_000),
    drop: () => socket.terminate(),
    close() {
      closed = true;
      socket.terminate();
    },
  };
}
