import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { askChild } from './ask-child.ts';
import { type Delivery, noteReady } from './events.ts';
import { tokenOf } from './gateway.ts';
import {
  type Fire,
  type Fired,
  type Join,
  type Order,
  SOCKETS_OF_A_VIEWER,
} from './subscribers-order.ts';
import { idOf } from './world.ts';

/** Subscribers of one server, in a process of their own. */
export interface Crowd extends Disposable {
  readonly size: number;
  /** Lets more in until there are so many. */
  grow(size: number): Promise<void>;
  fire(deliveries: readonly Delivery[], expected: number): Promise<Fired>;
  /** Fires until every subscriber has received an event: subscribing itself is not acknowledged. */
  settle(event: () => Delivery, expected: number): Promise<Fired>;
}

const READY = `subscription Ready($filter: EventFilter) {
  noteReady(filter: $filter) {
    cursor occurredAt progressNoteId
    session { sessionId }
    client { clientId }
    progressNote { isLoading note }
  }
}`;

const WITHIN_MS = 10_000;
const SETTLING_TRIES = 10;

let event = 0;
/** Never the same value twice. */
export const nextEvent = (clinician?: number): Delivery => noteReady((event += 1), clinician);

export function openCrowd(url: string, filtered: boolean): Crowd {
  const child = fork(fileURLToPath(new URL('subscribers.ts', import.meta.url)));
  let size = 0;
  const ordered = <T>(order: Order) => askChild<T>(child, order, 'the crowd of subscribers');
  const fire = (deliveries: readonly Delivery[], expected: number, withinMs = WITHIN_MS) =>
    ordered<Fired>({ kind: 'fire', url, deliveries, expected, withinMs } satisfies Fire);

  return {
    get size() {
      return size;
    },
    async grow(to) {
      const viewers = Math.ceil(to / SOCKETS_OF_A_VIEWER);
      const tokens = await Promise.all(
        Array.from({ length: viewers }, (_, i) => tokenOf(`viewer-${i}`)),
      );
      const clinicianIds = Array.from({ length: to }, (_, i) => idOf('clinician', i + 1));
      const join: Join = { kind: 'join', url, from: size, count: to - size, tokens, query: READY };
      await ordered(filtered ? { ...join, clinicianIds } : join);
      size = to;
    },
    fire,
    async settle(nextDelivery, expected) {
      for (let i = 1; i <= SETTLING_TRIES; i += 1) {
        const fired = await fire([nextDelivery()], expected, 2_000);
        if (fired.lastMs[0] !== undefined) return fired;
      }
      throw new Error(`all ${expected} subscribers must receive an event, but did not`);
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}
