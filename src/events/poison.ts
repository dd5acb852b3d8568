import { LRUCache } from 'lru-cache';

import type { NewEvent } from '../store/event-log.ts';
import type { QuarantineEntry } from '../store/store.ts';
import { field, isFields } from './facts.ts';
import type { PartnerEvent } from './partner-event.ts';
import { pause } from './persistence.ts';
import { fromStored, toNewEvent } from './stored-event.ts';

const TRIES = 5;
const FIRST_PAUSE_MS = 10;
/** Events that were set aside: each once, however many subscriptions fail on it, and then not tried five times more. */
const MOST_REMEMBERED = 1_000;

export interface PoisonParts {
  readonly setAside: (entry: QuarantineEntry) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Undefined: the event was set aside. Rejects at once with what will pass by itself. */
export type Attempt = <T>(
  event: PartnerEvent,
  task: () => T | Promise<T>,
) => Promise<T | undefined>;

/**
 * Some event may hit a mistake of ours, every time. It is tried a few times, then put into the quarantine, so that the
 * others go on; once the mistake is mended an operator replays it.
 */
export function createAttempt({ setAside, onFailure, signal }: PoisonParts): Attempt {
  const poisonous = new LRUCache<number, true>({ max: MOST_REMEMBERED });

  async function remove(event: PartnerEvent, error: unknown): Promise<void> {
    if (poisonous.has(event.position)) return;
    poisonous.set(event.position, true);
    // It stays in the log, whatever becomes of the note that it needs looking at.
    await setAside(poisonEntry(event, error)).catch(onFailure);
  }

  return async (event, task) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await task();
      } catch (error) {
        if (willPass(error)) throw error;
        onFailure(error);
        const isLast = tries === TRIES || poisonous.has(event.position);
        if (isLast) await remove(event, error);
        if (isLast || signal.aborted) return undefined;
        await pause(FIRST_PAUSE_MS * 2 ** (tries - 1), signal);
      }
    }
  };
}

/** Errors with a code tell of a store or a Partner API that is down, Node's own complaints about arguments aside. */
export const willPass = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  !error.code.startsWith('ERR_');

function poisonEntry({ position, receivedAt, ...facts }: PartnerEvent, error: unknown) {
  const kind = error instanceof Error ? error.constructor.name : typeof error;
  const reason = `${facts.type}: could not be handled (${kind})`;
  return { receivedAt, reason, body: JSON.stringify({ position, facts }) };
}

/** The event once more. It is in the log already, so only under another key it counts as new; and only once so. */
export function redrivenEvent({ body, receivedAt }: QuarantineEntry): NewEvent | undefined {
  const json = parsed(body);
  if (!isFields(json)) return undefined;
  const position = Number(field(json, 'position'));
  const event = fromStored({ position, receivedAt, body: JSON.stringify(field(json, 'facts')) });
  if (!event) return undefined;
  const { position: _position, receivedAt: _receivedAt, ...facts } = event;
  const entry = toNewEvent(facts, receivedAt);
  return { ...entry, time: undefined, key: `redriven:${position}:${entry.key}` };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
