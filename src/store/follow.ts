import { LogLost, StoreUnavailable } from './errors.ts';
import type { LogBounds, Position, StoredEvent } from './event-log.ts';

const MAX_EVENTS = 2_000;
const MAX_CHARACTERS = 4_000_000;

/** The end of the log in memory, so that followers and fresh cursors cost the engine nothing. */
export class RecentEvents {
  newest: Position;
  #change = Promise.withResolvers<void>();
  #events: StoredEvent[] = [];
  #characters = 0;

  constructor(newest: Position) {
    this.newest = newest;
  }

  /** Resolves at the next `announce`. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  /** There may be something new. */
  announce(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  /** Takes events in any order; keeps an unbroken run that ends with the newest. */
  push(event: StoredEvent): void {
    if (event.position <= this.newest) return;
    if (event.position > this.newest + 1) this.restart(event.position - 1);
    this.#events.push(event);
    this.newest = event.position;
    this.#characters += event.body.length;
    while (this.#events.length > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
      if (this.#events.length === 1) return;
      // Half at a time: dropping one by one would move the whole array for each event.
      this.#events = this.#events.slice(Math.ceil(this.#events.length / 2));
      this.#characters = this.#events.reduce((sum, { body }) => sum + body.length, 0);
    }
  }

  /** Undefined where memory does not reach back that far: the engine must be asked. */
  after(position: Position, limit: number): readonly StoredEvent[] | undefined {
    const skipped = position - (this.newest - this.#events.length);
    if (skipped < 0 || position > this.newest) return undefined;
    return this.#events.slice(skipped, skipped + limit);
  }

  restart(newest: Position): void {
    this.#events = [];
    this.#characters = 0;
    this.newest = newest;
  }
}

const BATCH = 256;

/** Events and the bounds they were read within, as one consistent look at the log. */
export interface LogPage extends LogBounds {
  readonly events: readonly StoredEvent[];
}

export interface Followable {
  readonly epoch: string;
  readonly recent: RecentEvents;
  page(after: Position, limit: number): Promise<LogPage>;
}

/** See `EventLog.follow`. */
export async function* follow(
  { epoch, recent, page }: Followable,
  after: Position,
  signal?: AbortSignal,
): AsyncGenerator<readonly StoredEvent[], undefined> {
  signal?.addEventListener('abort', () => recent.announce(), { once: true });
  let position = after;
  while (!signal?.aborted) {
    // Taken before the log is read: what is announced meanwhile is not missed.
    const { changed } = recent;
    const read = await page(position, BATCH).catch((error: unknown) => {
      // A store that is down announces itself when it is back.
      if (error instanceof StoreUnavailable) return undefined;
      throw error;
    });
    if (read && (read.epoch !== epoch || position > read.newest)) throw new LogLost('replaced');
    if (read && position < read.oldest) throw new LogLost('trimmed');
    if (!read || read.events.length === 0) {
      await changed;
    } else {
      position += read.events.length;
      yield read.events;
    }
  }
}
