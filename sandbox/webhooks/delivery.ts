import { createHmac } from 'node:crypto';
import type { Switches } from '../control/switches.ts';
import type { Random } from '../data/random.ts';
import type { WebhookEvent } from './events.ts';

/** How webhooks are signed by default. The API does not document it. */
export const SIGNATURE = { header: 'x-signature', algorithm: 'sha256', prefix: '' };
export type Signature = typeof SIGNATURE & { readonly encoding?: 'hex' | 'base64' | 'base64url' };

type Delivery = {
  readonly body: Buffer<ArrayBuffer>;
  readonly createdAt: number;
  attempts: number;
  timer?: NodeJS.Timeout;
};

const TIMEOUT_MS = 10_000;
const MAX_PENDING = 20_000;
const MAX_PENDING_WITHOUT_RECEIVER = 1_000;
const MAX_CONCURRENT = 16;
const MAX_RETRY_DELAY_MS = 60_000;
const GIVE_UP_AFTER_MS = 72 * 3_600_000;
const MAX_REORDER_DELAY_MS = 6_000;

/** At-least-once delivery: signed, retried until the receiver answers 2xx, sometimes duplicated or out of order. */
export function createWebhooks(
  options: Readonly<{ secret: string; signature: Signature; firstRetryMs: number }>,
  switches: Readonly<Switches>,
  random: Random,
) {
  const pending = new Set<Delivery>();
  const queue = new Set<Delivery>();
  const onIdle: (() => void)[] = [];
  let receiver: URL | undefined;
  let inFlight = 0;

  function sendQueued() {
    for (const delivery of queue) {
      if (!receiver || inFlight >= MAX_CONCURRENT) return;
      queue.delete(delivery);
      void attempt(delivery, receiver);
    }
  }

  async function attempt(delivery: Delivery, url: URL) {
    inFlight += 1;
    const { header, algorithm, encoding = 'hex', prefix } = options.signature;
    const mac = createHmac(algorithm, options.secret).update(delivery.body).digest(encoding);
    const isAccepted = await postWebhook(url, delivery.body, { [header]: prefix + mac });
    inFlight -= 1;
    delivery.attempts += 1;
    if (isAccepted || Date.now() - delivery.createdAt > GIVE_UP_AFTER_MS) remove(delivery);
    else enqueueAfter(retryDelay(delivery.attempts), delivery);
    sendQueued();
  }

  function retryDelay(attempts: number): number {
    const max = Math.min(MAX_RETRY_DELAY_MS, options.firstRetryMs * 2 ** (attempts - 1));
    return max / 2 + random.below(Math.ceil(max / 2) + 1);
  }

  function enqueueAfter(delayMs: number, delivery: Delivery) {
    delivery.timer = setTimeout(() => {
      if (pending.has(delivery)) queue.add(delivery);
      sendQueued();
    }, delayMs).unref();
  }

  function remove(delivery: Delivery) {
    clearTimeout(delivery.timer);
    pending.delete(delivery);
    queue.delete(delivery);
    if (pending.size === 0) for (const resolve of onIdle.splice(0)) resolve();
  }

  function add(body: Buffer<ArrayBuffer>) {
    const delivery: Delivery = { body, createdAt: Date.now(), attempts: 0 };
    pending.add(delivery);
    const isDelayed = random.chance(switches.reorderRate);
    if (isDelayed) enqueueAfter(random.below(MAX_REORDER_DELAY_MS), delivery);
    else queue.add(delivery);
    const [oldest] = pending;
    const limit = receiver ? MAX_PENDING : MAX_PENDING_WITHOUT_RECEIVER;
    if (oldest && pending.size > limit) remove(oldest);
  }

  return {
    send(event: WebhookEvent) {
      const body = Buffer.from(JSON.stringify(event));
      add(body);
      if (random.chance(switches.duplicateRate)) add(body);
      sendQueued();
    },
    /** Sets the URL that webhooks are sent to. Without one the latest 1,000 stay pending. */
    deliverTo(url: string | undefined) {
      receiver = url === undefined ? undefined : new URL(url);
      sendQueued();
    },
    /** Resolves once no delivery is pending. */
    idle: (): Promise<void> =>
      pending.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve)),
    close() {
      receiver = undefined;
      for (const delivery of pending) remove(delivery);
    },
  };
}

/** Posts one webhook and returns whether the receiver answered 2xx. Redirects are not followed. Never rejects. */
export async function postWebhook(
  url: URL,
  body: Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>>,
): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}
