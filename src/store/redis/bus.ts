import type { Bus, BusHandler } from '../store.ts';
import type { RedisConnection } from './connection.ts';

const ACKNOWLEDGED_WITHIN_MS = 500;

interface BusEnvelope {
  readonly from: string;
  readonly id: number;
  /** Without a topic, messages of this sender may have been lost. */
  readonly topic?: string;
  readonly message?: string;
}

/** Publish and subscribe with acknowledgements: the publisher waits for one from each receiver. */
export async function createRedisBus(
  subscriber: RedisConnection,
  publisher: RedisConnection,
  channel: string,
  onProblem: (message: string) => void,
): Promise<Bus> {
  const me: string = crypto.randomUUID();
  const handlers = new Map<string, BusHandler>();
  const gapHandlers: (() => void)[] = [];
  /** By message, what to do with each acknowledgement. */
  const awaited = new Map<number, () => void>();
  let lastId = 0;
  let hasUnsent = false;

  const gap = () => gapHandlers.forEach((handler) => handler());

  async function handle({ topic, message = '' }: BusEnvelope) {
    if (topic === undefined) return gap();
    try {
      await handlers.get(topic)?.(message);
    } catch {
      onProblem(`a message of another instance was not handled: ${topic}`);
    }
  }

  async function receive(text: string) {
    const envelope: BusEnvelope = JSON.parse(text);
    // Redis counts this instance among the receivers.
    if (envelope.from === me) return awaited.get(envelope.id)?.();
    await handle(envelope);
    // A lost acknowledgement only makes the sender wait a little longer.
    const [sender, id] = [`${channel}:${envelope.from}`, String(envelope.id)];
    await publisher.run((redis) => redis.publish(sender, id)).catch(() => {});
  }

  const send = (message: Omit<BusEnvelope, 'from'>) =>
    publisher.run((redis) => redis.publish(channel, JSON.stringify({ from: me, ...message })));

  const onMessage = (text: string) =>
    void receive(text).catch(() => onProblem('a message that no instance sent was ignored'));
  const onAcknowledgement = (id: string) => awaited.get(Number(id))?.();
  await subscriber.prepare(async (run) => {
    await run((redis) => redis.subscribe(channel, onMessage));
    await run((redis) => redis.subscribe(`${channel}:${me}`, onAcknowledgement));
    gap();
  });
  /** Other instances then drop their caches, since they missed a message. */
  function announceGap() {
    if (!hasUnsent) return;
    hasUnsent = false;
    send({ id: 0 }).catch(() => (hasUnsent = true));
  }
  publisher.onReady(announceGap);

  return {
    async publish(topic, message) {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ACKNOWLEDGED_WITHIN_MS);
      let [received, wanted] = [0, Infinity];
      awaited.set(id, () => {
        received += 1;
        if (received >= wanted) resolve();
      });
      try {
        wanted = await send({ id, topic, message });
        announceGap();
        if (received < wanted) await promise;
      } catch {
        hasUnsent = true;
      } finally {
        clearTimeout(timer);
        awaited.delete(id);
      }
    },
    subscribe: (topic, handler) => void handlers.set(topic, handler),
    onGap: (handler) => void gapHandlers.push(handler),
  };
}
