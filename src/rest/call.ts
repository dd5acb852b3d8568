import type { Repeat } from './attempts.ts';
import type { Cancel } from './cancel.ts';
import type { Lane } from './lane.ts';

/** One call to the Partner API, whatever number of attempts it takes. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly template: string;
  /** With its query. */
  readonly path: string;
  readonly body: string | null;
  readonly repeat: Repeat;
  /** Its effect matters: it is not cut off once sent, and an unclear end is said to be one. */
  readonly isWrite: boolean;
  /** All but the call that obtains the token. */
  readonly isAuthorized: boolean;
  /** Whose turn it takes in the queue. */
  readonly lane: Lane;
  readonly cancel: Cancel;
  /** Beyond those that every call has: name, value, name, value. */
  readonly headers: readonly string[];
  /** Called right before each attempt is sent; throws if the operation can't afford it. */
  charge(isRetry: boolean): void;
}

export interface CallAnswer {
  /** Undefined if a write's answer is no JSON: what it says is not documented anyway. */
  readonly json: unknown;
  readonly bytes: number;
}

export type Perform = (call: Call) => Promise<CallAnswer>;
