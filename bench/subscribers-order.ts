import type { Delivery } from './events.ts';

/** Well below the gateway's limit on sockets a viewer. */
export const SOCKETS_OF_A_VIEWER = 10;

export interface Join {
  readonly kind: 'join';
  readonly url: string;
  readonly from: number;
  readonly count: number;
  readonly tokens: readonly string[];
  readonly query: string;
  /** Given each subscriber's number: another clinician for each. Undefined: no filter. */
  readonly clinicianIds?: readonly string[];
}

export interface Fire {
  readonly kind: 'fire';
  /** Posted one after the other, each once the one before has reached all subscribers. */
  readonly url: string;
  readonly deliveries: readonly Delivery[];
  readonly expected: number;
  readonly withinMs: number;
}

export interface Fired {
  /** From the post to the last receipt, an event; undefined if a subscriber missed it. */
  readonly lastMs: readonly (number | undefined)[];
  readonly sample: string;
}

export type Order = Join | Fire;
