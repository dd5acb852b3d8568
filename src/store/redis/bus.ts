import type { Bus, BusHandler } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { names } from './scripts.ts';

const ACKNOWLEDGED_WITHIN_MS = 500;

interface BusEnvelope {
  readonly from: string;
  readonly id: number;
  /** Without a topic, messages of this sender may have been lost. */
  readonly topic?: string;
  readonly message?: string;
}

interface PendingPublish {
  received: number;
  wanted: number;
  readonly done: () => void;
}

/** Publish and subscribe with acknowledgements: the publisher waits for one from each receiver. */
export async function createRedisBus(
  subscriber: RedisConnection,
  publisher: RedisConnection,
  database: string,
  onProblem: (message: string) => void,
): Promise<Bus> {
  const me: string = crypto.randomUUID();
  const channel = names.bus(database);
  const handlers = new Map<string, BusHandler>();
  const gapHandlers: (() => void)[] = [];
  const awaited = new Map<number, PendingPublish>();
  let lastId = 0;
  let hasUnsent = false;

  const gap = () => gapHandlers.forEach((handler) => handler());

  function acknowledged(id: number) {
    const publishing = awaited.get(id);
    if (publishing && ++publishing.received >= publishing.wanted) publishing.done();
  }

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
    if (envelope.from === me) return acknowledged(envelope.id);
    await handle(envelope);
    // A lost acknowledgement only makes the sender wait a little longer.
    const answer = ['PUBLISH', `${channel}:${envelope.from}`, String(envelope.id)];
    await publisher.command(answer).catch(() => {});
  }

  async function send(id: number, message: Pick<BusEnvelope, 'topic' | 'message'>) {
    const envelope: BusEnvelope = { from: me, id, ...message };
    return publisher.command<number>(['PUBLISH', channel, JSON.stringify(envelope)]);
  }

  await subscriber.subscribe(channel, (text) => {
    receive(text).catch(() => onProblem('a message that no instance sent was ignored'));
  });
  await subscriber.subscribe(`${channel}:${me}`, (id) => acknowledged(Number(id)));
  subscriber.onReady(gap);
  publisher.onReady(() => {
    if (!hasUnsent) return;
    hasUnsent = false;
    send(0, {}).catch(() => (hasUnsent = true));
  });

  return {
    async publish(topic, message) {
      const id = ++lastId;
      const { promise, resolve } = Promise.withResolvers<void>();
      const publishing: PendingPublish = { received: 0, wanted: Infinity, done: resolve };
      awaited.set(id, publishing);
      const timer = setTimeout(resolve, ACKNOWLEDGED_WITHIN_MS);
      try {
        publishing.wanted = await send(id, { topic, message });
        if (publishing.received < publishing.wanted) await promise;
      } catch {
        // A gap is sent once the others can be reached, which makes them drop their caches.
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
