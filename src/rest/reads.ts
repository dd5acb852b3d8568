import type { Answer } from '../answer.ts';
import type { Answers } from './answers.ts';
import type { Call, Perform } from './call.ts';
import { cancel, createCancel } from './cancel.ts';
import type { Cancel } from './cancel.ts';
import {
  CallBudgetExhausted,
  OperationAborted,
  PartnerContractBroken,
  PartnerNotFound,
} from './errors.ts';
import type { PartnerObserver } from './observer.ts';
import { createPathIndex } from './path-index.ts';
import type { Read } from './read.ts';
import { traceHeadersOf } from './trace-headers.ts';
import type { Usage } from './usage.ts';

/** GETs, shared by all operations: what is cached or being asked already is not asked again. */
export interface Reads {
  cached(key: string): Answer | undefined;
  totalOf(listKey: string): number | undefined;
  /** `isFresh`: neither from the cache nor from a call that began earlier. */
  load<T>(read: Read<T>, usage: Usage, isFresh: boolean): Promise<Answer<T>>;
  /**
   * Drops what is cached under the path. Calls in flight go on for those who wait already: whoever asks from
   * now on asks anew, and the late answers are not kept.
   */
  forget(path: string): void;
  /** All of it: for when news of what is stale may have been missed. */
  forgetAll(): void;
}

interface Flight {
  readonly cancel: Cancel;
  /** Everybody who has asked, in order: the first who still can pays. */
  readonly payers: [Usage, ...Usage[]];
  waiting: number;
  /** Its answer is already known to be older than what is true. */
  isDetached: boolean;
}

interface Underway {
  readonly flight: Flight;
  readonly answer: Promise<Answer>;
  readonly path: string;
}

export function createReads(perform: Perform, answers: Answers, observer: PartnerObserver): Reads {
  // Not a Map: where much comes and goes, its outgrown tables keep what they held alive, and each other,
  // until a full collection.
  const flights = Object.create(null) as Record<string, Underway | undefined>;
  const index = createPathIndex();
  let flying = 0;

  const detach = (key: string, flight: Flight): void => {
    const underway = flights[key];
    flight.isDetached = true;
    if (underway?.flight !== flight) return;
    delete flights[key];
    flying -= 1;
    index.remove(underway.path, key);
  };

  const fetch = async <T>(read: Read<T>, flight: Flight): Promise<Answer<T>> => {
    try {
      const { json, bytes } = await perform(callOf(read, flight));
      const value = read.read(json);
      if (value === undefined) throw shapeless(read.kind.template);
      const gaps = read.list?.gapsIn(value) ?? 0;
      if (gaps > 0) observer.unreadableRows?.(read.kind.template, gaps);
      return keep(read, flight, value, bytes);
    } catch (error) {
      const { missing } = read.kind;
      if (missing && error instanceof PartnerNotFound) return keep(read, flight, missing.value, 0);
      throw error;
    } finally {
      detach(read.key, flight);
    }
  };

  const keep = <T>(read: Read<T>, flight: Flight, value: T, bytes: number): Answer<T> =>
    flight.isDetached ? { value, expiresAt: 0, valid: false } : answers.keep(read, value, bytes);

  const begin = <T>(read: Read<T>, usage: Usage): Underway => {
    const flight: Flight = {
      cancel: createCancel(),
      payers: [usage],
      waiting: 0,
      isDetached: false,
    };
    const underway = { flight, answer: fetch(read, flight), path: read.path };
    flights[read.key] = underway;
    flying += 1;
    index.add(read.path, read.key);
    return underway;
  };

  /** Each waiter may leave on its own; the call is given up only when all have gone. */
  const join = <T>(
    read: Read<T>,
    { flight, answer }: Underway,
    usage: Usage,
  ): Promise<Answer<T>> => {
    flight.waiting += 1;
    // The key names the kind, and with it the type of the value.
    const typed = answer as Promise<Answer<T>>;
    return new Promise((resolve, reject) => {
      const stay = usage.onEnd(() => {
        flight.waiting -= 1;
        if (flight.waiting === 0) {
          detach(read.key, flight);
          cancel(flight.cancel);
        }
        reject(new OperationAborted(read.kind.template));
      });
      typed.then(
        (value) => {
          stay();
          resolve(value);
        },
        (error: unknown) => {
          stay();
          reject(error);
        },
      );
    });
  };

  return {
    cached: (key) => answers.get(key),
    totalOf: (listKey) => answers.totalOf(listKey),
    load(read, usage, isFresh) {
      if (usage.isOver) return Promise.reject(new OperationAborted(read.kind.template));
      const underway = flights[read.key];
      if (underway && !isFresh) {
        usage.coalesced += 1;
        underway.flight.payers.push(usage);
        return join(read, underway, usage);
      }
      if (underway) detach(read.key, underway.flight);
      return join(read, begin(read, usage), usage);
    },
    forget(path) {
      answers.forget(path);
      // Every event comes by here, and mostly nothing is under way.
      if (flying === 0) return;
      for (const key of index.under(path)) {
        const underway = flights[key];
        if (underway) detach(key, underway.flight);
      }
    },
    forgetAll() {
      answers.forgetAll();
      for (const [key, underway] of Object.entries(flights)) {
        if (underway) detach(key, underway.flight);
      }
    },
  };
}

function callOf<T>({ key, kind: { template } }: Read<T>, { payers, cancel: given }: Flight): Call {
  const [starter] = payers;
  return {
    method: 'GET',
    template,
    path: key,
    body: null,
    repeat: 'freely',
    isWrite: false,
    isAuthorized: true,
    lane: starter.lane,
    cancel: given,
    headers: traceHeadersOf(starter),
    charge(isRetry) {
      const payer = payers.find((usage) => usage.calls < usage.maxCalls);
      if (!payer) throw new CallBudgetExhausted(template, starter.maxCalls);
      payer.calls += 1;
      if (isRetry) payer.retried += 1;
    },
  };
}

function shapeless(template: string): PartnerContractBroken {
  return new PartnerContractBroken(template, 'the answer has not the shape that was wanted');
}
