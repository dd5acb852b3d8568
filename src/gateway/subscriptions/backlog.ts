import type { Limits } from '../../config.ts';

/** The bounded queue of a client that reads slowly. Most clients never need one. */
export class Backlog {
  /** As text, whose payload all subscribers share: as bytes each would have its own. */
  readonly #waiting: string[] = [];
  #waitingBytes = 0;
  /** Resolves once the reader has caught up. */
  readonly caughtUp = Promise.withResolvers<void>();

  /** Undefined if the backlog is full. The transport holds one more event, and may hold results of queries. */
  put(text: string, limits: Pick<Limits, 'socketQueueEvents' | 'socketQueueBytes'>) {
    const isFull =
      this.#waiting.length >= limits.socketQueueEvents ||
      this.#waitingBytes + text.length > limits.socketQueueBytes;
    // One may always wait, however long: a client that resumes would never get it otherwise.
    if (isFull && this.#waiting.length > 0) return undefined;
    this.#waiting.push(text);
    this.#waitingBytes += text.length;
    return this.caughtUp.promise;
  }

  /** The next message, once the client can take one. Undefined if none waits: the client has caught up. */
  take(): string | undefined {
    const text = this.#waiting.shift();
    this.#waitingBytes -= text?.length ?? 0;
    if (text === undefined) this.caughtUp.resolve();
    return text;
  }
}
