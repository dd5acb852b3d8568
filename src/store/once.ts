import { setTimeout as delay } from 'node:timers/promises';

import type { KeyStore } from './key-store.ts';

/** A frontend that retries does so within minutes; a day is for those that were offline. */
const KEPT_MS = 24 * 3_600_000;
/** A write takes at most 15 s: whoever holds a claim for longer has died with it. */
const LONGEST_MS = 20_000;
const FIRST_LOOK_MS = 25;
const MOST_BETWEEN_LOOKS_MS = 400;

type Claim =
  | { readonly state: 'running'; readonly print: string; readonly since: number }
  | { readonly state: 'done'; readonly print: string; readonly outcome: unknown }
  | { readonly state: 'unknown'; readonly print: string };

/** The key was used before, with other input. */
export class KeyReused extends Error {
  override readonly name = 'KeyReused';
}

/** The first call with this key ended without a clear answer: it is not sent again. */
export class FirstCallUnknown extends Error {
  override readonly name = 'FirstCallUnknown';
  readonly code = 'OUTCOME_UNKNOWN';

  constructor() {
    super(
      'The first call with this key ended without a clear answer: await its event, or use another key.',
    );
  }
}

export type Once = ReturnType<typeof createOnce>;

/**
 * Runs something at most once a key, over all instances: those who come later get the first one's outcome. `print` is
 * the input's fingerprint. A failure that certainly had no effect frees the key; an unclear one keeps it.
 */
export function createOnce(keys: KeyStore, now: () => number = Date.now) {
  const running = new Map<string, { readonly print: string; readonly outcome: Promise<unknown> }>();

  return async <T>(key: string, print: string, run: () => Promise<T>): Promise<T> => {
    const here = running.get(key);
    if (here && here.print !== print) throw new KeyReused();
    if (here) return here.outcome as Promise<T>;
    const outcome = claimAndRun(key, print, run).finally(() => running.delete(key));
    running.set(key, { print, outcome });
    return outcome;
  };

  async function claimAndRun<T>(key: string, print: string, run: () => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, MOST_BETWEEN_LOOKS_MS)) {
      const mine: Claim = { state: 'running', print, since: now() };
      const theirs = await keys.claim(key, JSON.stringify(mine), KEPT_MS);
      if (theirs === undefined) return runAndSettle(key, print, run);
      const claim = JSON.parse(theirs) as Claim;
      if (claim.print !== print) throw new KeyReused();
      if (claim.state === 'done') return claim.outcome as T;
      if (claim.state === 'unknown' || now() - claim.since > LONGEST_MS)
        throw new FirstCallUnknown();
      await delay(pauseMs);
    }
  }

  async function runAndSettle<T>(key: string, print: string, run: () => Promise<T>): Promise<T> {
    const settle = (claim: Claim) => keys.put(key, JSON.stringify(claim), KEPT_MS);
    try {
      const outcome = await run();
      await settle({ state: 'done', print, outcome });
      return outcome;
    } catch (error) {
      if (isUnclear(error)) await settle({ state: 'unknown', print });
      else await keys.delete(key);
      throw error;
    }
  }
}

const isUnclear = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'OUTCOME_UNKNOWN';
