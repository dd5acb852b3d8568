import { setTimeout as delay } from 'node:timers/promises';

import { LRUCache } from 'lru-cache';

import { BadInput, OperationError, hasCode } from '../errors.ts';
import { steadyNow } from '../clock.ts';
import type { KeyStore } from './store.ts';

/** A frontend that retries does so within minutes; a day is for those that were offline. */
const KEPT_MS = 24 * 3_600_000;
/** A write takes at most 15 s: an older claim belongs to a process that died. */
const MAX_RUN_MS = 20_000;
const MIN_POLL_MS = 25;
const MAX_POLL_MS = 400;
const MAX_UNCONFIRMED = 10_000;

type Claim =
  | {
      readonly state: 'running';
      readonly print: string;
      readonly since: number;
      readonly id: string;
    }
  | { readonly state: 'done'; readonly print: string; readonly outcome: unknown }
  | { readonly state: 'unknown'; readonly print: string };

const KEY_REUSED = '"idempotencyKey" was used before, with other input.';
const FIRST_UNKNOWN =
  'The first call with this key ended without a clear answer: await its event, or use another key.';

/** It is not sent again. */
const firstCallUnknown = () => new OperationError('OUTCOME_UNKNOWN', FIRST_UNKNOWN);

export type Once = ReturnType<typeof createOnce>;

/**
 * Runs a task at most once per key, over all instances: later callers get the first one's outcome. `print` is the
 * input's fingerprint. A failure without effect frees the key; an unclear one keeps it.
 */
export function createOnce(keys: KeyStore, now: () => number = steadyNow) {
  /** Claims that the store has not confirmed, by id. It may hold them all the same, and nothing was sent for them. */
  const unconfirmed = new LRUCache<string, true>({ max: MAX_UNCONFIRMED, ttl: KEPT_MS });

  async function confirm<Answer>(id: string, writing: Promise<Answer>): Promise<Answer> {
    try {
      return await writing;
    } catch (error) {
      unconfirmed.set(id, true);
      throw error;
    }
  }

  return async <T>(key: string, print: string, run: () => Promise<T>): Promise<T> => {
    let waitedMs = 0;
    for (let pauseMs = MIN_POLL_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
      const mine: Claim = { state: 'running', print, since: now(), id: crypto.randomUUID() };
      const theirs = await confirm(mine.id, keys.claim(key, JSON.stringify(mine), KEPT_MS));
      if (theirs === undefined) return runAndSettle(key, print, run);
      const claim = JSON.parse(theirs) as Claim;
      if (claim.print !== print) throw new BadInput(KEY_REUSED);
      if (claim.state === 'done') return claim.outcome as T;
      if (claim.state === 'unknown') throw firstCallUnknown();
      // Deleted at once: one caller takes it over, and the others wait for its outcome.
      if (unconfirmed.delete(claim.id)) {
        const renewed: Claim = { ...claim, since: now() };
        await confirm(claim.id, keys.put({ [key]: JSON.stringify(renewed) }, KEPT_MS));
        return runAndSettle(key, print, run);
      }
      // Both are checked: the process may have died long ago, and its clock may differ from ours.
      const isLost = waitedMs > MAX_RUN_MS || now() - claim.since > MAX_RUN_MS;
      if (isLost) throw firstCallUnknown();
      await delay(pauseMs);
      waitedMs += pauseMs;
    }
  };

  async function runAndSettle<T>(key: string, print: string, run: () => Promise<T>): Promise<T> {
    const settle = (claim: Claim) => keys.put({ [key]: JSON.stringify(claim) }, KEPT_MS);
    let outcome: T;
    try {
      outcome = await run();
    } catch (error) {
      const isUnclear = hasCode(error, 'OUTCOME_UNKNOWN');
      await ifPossible(isUnclear ? settle({ state: 'unknown', print }) : keys.delete(key));
      throw error;
    }
    await ifPossible(settle({ state: 'done', print, outcome }));
    return outcome;
  }
}

/** The outcome is returned even if it can't be stored. The claim then counts as lost, and nothing is sent again. */
const ifPossible = (noting: Promise<unknown>) => noting.catch(() => undefined);
