import type { Limits } from '../../config.ts';

/** The bounded queue of a client that reads slowly. Most clients never need one. */
export class Backlog {
  readonly #limits: Pick<Limits, 'socketQueueEvents' | 'socketQueueBytes'>;
  /** As text, whose payload all subscribers share: as bytes each would have its own. */
  readonly #waiting: string[] = [];
  #waitingBytes = 0;
  readonly #end = Promise.withResolvers<void>();
  /** Resolves once the reader has caught up. */
  readonly caughtUp = this.#end.promise;

  constructor(limits: Pick<Limits, 'socketQueueEvents' | 'socketQueueBytes'>) {
    this.#limits = limits;
  }

  /** Undefined if the backlog is full. The transport holds one more event, and may hold results of queries. */
  put(text: string): Promise<void> | undefined {
    const { socketQueueEvents, socketQueueBytes } = this.#limits;
    const bytes = this.#waitingBytes + text.length;
    const isFull = this.#waiting.length >= socketQueueEvents || bytes > socketQueueBytes;
    // One may always wait, however long: a client that resumes would never get it otherwise.
    if (isFull && this.#waiting.length > 0) return undefined;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    return this.caughtUp;
  }

  /** The next message, once the client can take one. Undefined if none waits: the client has caught up. */
  take(): string | undefined {
    const text = this.#waiting.shift();
    this.#waitingBytes -= text?.length ?? 0;
    if (text === undefined) this.#end.resolve();
    return text;
  }
}
