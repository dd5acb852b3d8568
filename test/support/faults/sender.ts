import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';

import { postWebhook } from '../../../sandbox/webhooks/delivery.ts';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { until } from '../ws/raw-socket.ts';

/** Sends webhooks until it is stopped, each until it gets a 2xx, and records which did. */
export interface Sender {
  /** The notes whose event got a 2xx. */
  readonly acknowledged: ReadonlySet<string>;
  /** The client of each note, whatever the outcome. */
  readonly clientOf: ReadonlyMap<string, number>;
  readonly refusals: number;
  /** Resolves once that many more were acknowledged. */
  more(count: number): Promise<void>;
  /** Requests in flight end first; rejected ones are not sent again. */
  stop(): Promise<void>;
}

export interface SenderOptions {
  /** Called for each attempt: a server may restart on another port. */
  readonly url: () => string;
  readonly sandbox: Sandbox;
  readonly writers?: number;
  /** Which of the sandbox's clients it is about, all of the first clinic. */
  readonly client?: () => number;
  /** Between two events of one writer: four of them send some 150 a second, and leave the machine to others. */
  readonly pauseMs?: number;
}

const PAUSE_MS = 50;

/** The event of a new note. */
export function noteEvent({ ids }: Sandbox, noteId: string, client = 0) {
  const body = JSON.stringify({
    eventType: 'progress_note_generated',
    timeStamp: new Date().toISOString(),
    payload: {
      progressNoteId: noteId,
      sessionId: ids.session(client, 0),
      clientId: ids.client(client),
      clinicianId: ids.clinician(client % 13),
      clinicId: ids.clinic(0),
      organizationId: ids.organization(0),
    },
  });
  return Buffer.from(body);
}

export const signed = (sandbox: Sandbox, body: Buffer) => ({
  'x-signature': createHmac('sha256', sandbox.connection.clientSecret).update(body).digest('hex'),
});

export function startSender(options: SenderOptions): Sender {
  const { url, sandbox, writers = 4, client = () => 0, pauseMs = 20 } = options;
  const acknowledged = new Set<string>();
  const clientOf = new Map<string, number>();
  let refusals = 0;
  const stopping = new AbortController();

  async function deliver(noteId: string): Promise<void> {
    const about = client();
    clientOf.set(noteId, about);
    const body = noteEvent(sandbox, noteId, about);
    const headers = signed(sandbox, body);
    while (!stopping.signal.aborted) {
      if (await postWebhook(new URL(`${url()}/webhooks`), body, headers)) {
        acknowledged.add(noteId);
        return;
      }
      refusals += 1;
      await setTimeout(PAUSE_MS);
    }
  }

  async function write(): Promise<void> {
    while (!stopping.signal.aborted) {
      await deliver(randomUUID());
      await setTimeout(pauseMs);
    }
  }

  const writing = Promise.all(Array.from({ length: writers }, write));
  return {
    acknowledged,
    clientOf,
    get refusals() {
      return refusals;
    },
    more(count) {
      const size = acknowledged.size + count;
      return until(() => acknowledged.size >= size, 10, 100_000);
    },
    async stop() {
      stopping.abort();
      await writing;
    },
  };
}

/** One webhook, for tests that look at the answer. */
export async function sendOne(url: string, sandbox: Sandbox, noteId: string = randomUUID()) {
  const body = noteEvent(sandbox, noteId);
  const headers = signed(sandbox, body);
  const response = await fetch(`${url}/webhooks`, { method: 'POST', body, headers });
  await response.arrayBuffer();
  return response.status;
}
