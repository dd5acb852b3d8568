import { setTimeout as delay } from 'node:timers/promises';

import { LRUCache } from 'lru-cache';

import { BadInput, CodedError, StoreNotReached, hasCode } from '../errors.ts';
import { steadyNow } from '../clock.ts';
import { upTo } from '../cache-limit.ts';
import { type KeyStore, runEvery } from './store.ts';

/** A frontend that retries does so within minutes; a day is for those that were offline. */
const KEPT_MS = 24 * 3_600_000;
/** An instance that could not reach the store writes its outcomes this soon after the store is back. */
const LATE_MS = 3_000;
/** One a second while the store answers: TCP may deliver a claim that timed out long after the server is back. */
const CLAIM_ROUNDS = 120;

/** The fingerprint is that of the input. */
type Claim = { readonly fingerprint: string } & (
  | { readonly state: 'running'; readonly since: number; readonly id: string }
  | { readonly state: 'done'; readonly outcome: unknown }
  | { readonly state: 'unknown' }
);

const KEY_REUSED = '"idempotencyKey" was used before, with other input.';
const FIRST_UNKNOWN =
  'The first call with this key ended without a clear answer: await its event, or use another key.';
const FIRST_RUNNING =
  'The first call with this key may still be running: send this one again, with the same key.';

export type RunOnce = ReturnType<typeof createRunOnce>;

/**
 * Runs a task at most once per key, over all instances: later callers get the first one's outcome. A failure without
 * effect frees the key; an unclear one keeps it. Each claim has an id of its own and is deleted by its value: a command
 * that reaches the store late deletes no other claim. What the store does not confirm is repeated in the background.
 */
export function createRunOnce(keys: KeyStore, operationMs = 15_000, now: () => number = steadyNow) {
  // A run has the operation's time for its reads, then 15 s for the write, 10 s for the store and 1 s for late timers.
  const maxRunMs = operationMs + 26_000;
  /** Outcomes that are still to be written, by key. An outcome may contain an answer of the Partner API. */
  const lateOutcomes = new LRUCache<string, string>({
    maxSize: 16_000_000,
    sizeCalculation: (outcome, key) => outcome.length + key.length,
    ttl: KEPT_MS,
  });
  /** Claims that are still to be deleted, by value, since a key may be claimed several times. */
  const unwantedClaims = new LRUCache<string, { key: string; rounds: number }>(upTo(10_000));

  async function runOnce<T>(key: string, fingerprint: string, run: () => Promise<T>): Promise<T> {
    let waitedMs = 0;
    for (let pauseMs = 25; ; pauseMs = Math.min(pauseMs * 2, 400)) {
      const own: Claim = { state: 'running', fingerprint, since: now(), id: crypto.randomUUID() };
      const mine = JSON.stringify(own);
      const theirs = lateOutcomes.get(key) ?? (await claim(key, mine, waitedMs > 0));
      if (theirs === null) return runNow(key, mine, fingerprint, run);
      if (unwantedClaims.has(theirs)) {
        await keys.delete(key, theirs);
        continue;
      }
      const first = JSON.parse(theirs) as Claim;
      if (first.fingerprint !== fingerprint) throw new BadInput(KEY_REUSED);
      if (first.state === 'done') return first.outcome as T;
      // If it runs for too long, its process must have died. The call is not sent again.
      if (first.state === 'unknown' || (waitedMs > LATE_MS && now() - first.since > maxRunMs))
        throw new CodedError('OUTCOME_UNKNOWN', FIRST_UNKNOWN);
      // Less than HTTP clients and proxies wait.
      if (waitedMs > 15_000) throw new CodedError('TIMEOUT', FIRST_RUNNING);
      await delay(pauseMs);
      waitedMs += pauseMs;
    }
  }

  /** A claim that is not confirmed may reach the store, but nothing is sent. The first call may have changed something. */
  const claim = (key: string, mine: string, isFirstSeen: boolean) =>
    keys.claim(key, mine, KEPT_MS).catch((error: unknown) => {
      if (!(error instanceof StoreNotReached)) deleteLater(key, mine);
      throw isFirstSeen ? new CodedError('TIMEOUT', FIRST_RUNNING) : error;
    });

  /** The outcome is returned even if it can't be stored yet. */
  async function runNow<T>(key: string, mine: string, fingerprint: string, run: () => Promise<T>) {
    const outcome = await run().catch(async (error: unknown) => {
      if (hasCode(error, 'OUTCOME_UNKNOWN')) await settle(key, { state: 'unknown', fingerprint });
      else await keys.delete(key, mine).catch(() => deleteLater(key, mine));
      throw error;
    });
    await settle(key, { state: 'done', fingerprint, outcome });
    return outcome;
  }

  /** Never rejects. */
  async function settle(key: string, ending: Claim): Promise<void> {
    const outcome = JSON.stringify(ending);
    await keys.put({ [key]: outcome }, KEPT_MS).catch(() => lateOutcomes.set(key, outcome));
  }

  const deleteLater = (key: string, mine: string) => unwantedClaims.set(mine, { key, rounds: 0 });

  /** Outcomes first, all at once: callers wait for them. */
  async function repeat(): Promise<void> {
    const late = Object.fromEntries(lateOutcomes.entries());
    if (lateOutcomes.size > 0) await keys.put(late, KEPT_MS);
    for (const key of Object.keys(late)) lateOutcomes.delete(key);
    for (const [value, each] of Array.from(unwantedClaims.entries()))
      if ((await keys.delete(each.key, value)) || ++each.rounds >= CLAIM_ROUNDS)
        unwantedClaims.delete(value);
  }
  const repeating = runEvery(1_000, repeat);

  return Object.assign(runOnce, {
    async [Symbol.asyncDispose](): Promise<void> {
      repeating[Symbol.dispose]();
      await repeat().catch(() => undefined);
    },
  });
}
