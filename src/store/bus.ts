export type BusHandler = (message: string) => void | Promise<void>;

/** Messages to the other instances. Not durable: what can be missed is told by `onGap`. */
export interface Bus {
  /**
   * Resolves when every other live instance has handled the message, or after half a second. Never
   * rejects: what the message tells of has happened already.
   */
  publish(topic: string, message: string): Promise<void>;
  /** Not called for this instance's own messages. Answers the way to unsubscribe. */
  subscribe(topic: string, handler: BusHandler): () => void;
  /** Called when messages may have been missed: callers drop what they remember. */
  onGap(handler: () => void): void;
}

/** With one instance there is nobody to tell. */
export const silentBus: Bus = {
  publish: () => Promise.resolve(),
  subscribe: () => () => {},
  onGap: () => {},
};
