import { createHmac } from 'node:crypto';
import type { WebhookEvent } from './events.ts';
import { createPoster } from './poster.ts';
import type { Draws } from './rng.ts';
import type { Switches } from './switches.ts';

/** At-least-once delivery: signed, repeated until the receiver answers 2xx, now and then twice or late. */
export interface Webhooks {
  readonly send: (event: WebhookEvent) => void;
  /** Without a receiver the latest 1,000 wait for one. */
  readonly deliverTo: (url: string | undefined) => void;
  /** Resolves once nothing waits, is under way or is to be tried again. */
  readonly idle: () => Promise<void>;
  readonly close: () => void;
}

export interface WebhookOptions {
  readonly secret: string;
  readonly signatureHeader: string;
  readonly firstRetryMs: number;
}

interface Delivery {
  readonly body: Buffer;
  readonly since: number;
  attempts: number;
  timer: NodeJS.Timeout | undefined;
}

const MOST_WAITING = 20_000;
const MOST_WAITING_UNADDRESSED = 1_000;
const MOST_AT_ONCE = 16;
const LONGEST_RETRY_MS = 60_000;
const GIVE_UP_AFTER_MS = 72 * 3_600_000;
const LONGEST_HOLD_MS = 1_500;

export function createWebhooks(
  options: WebhookOptions,
  switches: Readonly<Switches>,
  draws: Draws,
): Webhooks {
  const post = createPoster();
  const waiting = new Set<Delivery>();
  const idlers: (() => void)[] = [];
  let ready: Delivery[] = [];
  let receiver: URL | undefined;
  let underWay = 0;

  function pump() {
    if (!receiver) return;
    while (underWay < MOST_AT_ONCE) {
      const next = ready.shift();
      if (!next) return;
      if (waiting.has(next)) void attempt(next, receiver);
    }
  }

  async function attempt(delivery: Delivery, url: URL) {
    underWay += 1;
    const signature = createHmac('sha256', options.secret).update(delivery.body).digest('hex');
    const isTaken = await post.send(url, delivery.body, { [options.signatureHeader]: signature });
    underWay -= 1;
    delivery.attempts += 1;
    if (isTaken || Date.now() - delivery.since > GIVE_UP_AFTER_MS) drop(delivery);
    else if (waiting.has(delivery)) enqueueIn(retryDelay(delivery), delivery);
    pump();
  }

  function retryDelay({ attempts }: Delivery): number {
    const ceiling = Math.min(LONGEST_RETRY_MS, options.firstRetryMs * 2 ** (attempts - 1));
    return ceiling / 2 + draws.below(Math.ceil(ceiling / 2) + 1);
  }

  function enqueueIn(delayMs: number, delivery: Delivery) {
    delivery.timer = setTimeout(() => {
      ready.push(delivery);
      pump();
    }, delayMs).unref();
  }

  function drop(delivery: Delivery) {
    clearTimeout(delivery.timer);
    waiting.delete(delivery);
    if (waiting.size === 0) for (const wake of idlers.splice(0)) wake();
  }

  function add(body: Buffer) {
    const delivery: Delivery = { body, since: Date.now(), attempts: 0, timer: undefined };
    waiting.add(delivery);
    if (draws.chance(switches.reorderRate)) enqueueIn(draws.below(LONGEST_HOLD_MS), delivery);
    else ready.push(delivery);
    const [oldest] = waiting;
    if (oldest && waiting.size > (receiver ? MOST_WAITING : MOST_WAITING_UNADDRESSED)) {
      drop(oldest);
    }
    if (ready.length > 2 * waiting.size) ready = ready.filter((other) => waiting.has(other));
  }

  return {
    send(event) {
      const body = Buffer.from(JSON.stringify(event));
      add(body);
      if (draws.chance(switches.duplicateRate)) add(body);
      pump();
    },
    deliverTo(url) {
      receiver = url === undefined ? undefined : new URL(url);
      pump();
    },
    idle: () =>
      waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
    close() {
      receiver = undefined;
      for (const delivery of waiting) drop(delivery);
      post.close();
    },
  };
}
