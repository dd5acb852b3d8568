import type { Bus } from '../store.ts';
import { PREFIX, type RedisConnection } from './connection.ts';

/** Without a message, some of this sender's may have been lost. */
type Envelope = Readonly<{ from: string; id: number; message?: string }>;

/** Publish and subscribe with acknowledgements: the publisher waits for one from each receiver. */
export function createRedisBus(connection: RedisConnection): Bus {
  const channel = `${PREFIX}bus:${connection.database}`;
  const ownId: string = crypto.randomUUID();
  let handle: ((message: string) => void | Promise<void>) | undefined;
  let onGap: (() => void) | undefined;
  /** By the id of a message, called with each acknowledgement. */
  const acknowledge = new Map<number, () => void>();
  let lastId = 0;

  async function receive(text: string) {
    const { from, id, message }: Envelope = JSON.parse(text);
    // Redis counts this instance among the receivers.
    if (from === ownId) return acknowledge.get(id)?.();
    try {
      await (message === undefined ? onGap?.() : handle?.(message));
    } catch {
      connection.onProblem('a message of another instance was not handled');
    }
    // A lost acknowledgement only makes the sender wait a little longer.
    await connection.run((redis) => redis.publish(`${channel}:${from}`, `${id}`)).catch(() => {});
  }

  const send = (id: number, message?: string) =>
    connection.run((redis) => redis.publish(channel, JSON.stringify({ from: ownId, id, message })));

  connection.subscribe(channel, (text) =>
    receive(text).catch(() => connection.onProblem('a message that no instance sent was ignored')),
  );
  connection.subscribe(`${channel}:${ownId}`, (id) => acknowledge.get(Number(id))?.());

  connection.onGap(() => {
    onGap?.();
    // If this fails, the next session begins with it.
    send(0).catch(() => {});
  });

  return {
    async publish(message) {
      const id = ++lastId;
      const { promise: over, resolve } = Promise.withResolvers<void>();
      // Also for a server that hangs, which rejects the message much later.
      const timer = setTimeout(resolve, 500);
      /** Below zero while acknowledgements come before Redis has counted the receivers. */
      let missing = 0;
      const count = (receivers: number) => {
        missing += receivers;
        if (missing === 0) resolve();
      };
      acknowledge.set(id, () => count(-1));
      send(id, message).then(count, resolve);
      await over;
      clearTimeout(timer);
      acknowledge.delete(id);
    },
    // Not PING: it is answered while writes are paused, and messages are not.
    check: () => connection.run((redis) => redis.publish(`${channel}:${ownId}`, '0')),
    subscribe(...handlers) {
      [handle, onGap] = handlers;
    },
  };
}
