import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request, type OutgoingHttpHeaders, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventFacts } from '../../../src/events/partner-event.ts';
import { createWebhookHandler, type WebhookParts } from '../../../src/events/webhook.ts';
import { type Log, createLog } from '../../../src/observability/log.ts';
import { type Metrics, createMetrics } from '../../../src/observability/metrics.ts';
import { openEmbedded } from '../../../src/store/sqlite/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { bytesOf, macOf } from './deliveries.ts';

export const SECRET = 'the-client-secret';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export async function openTestStore(retentionMs = 3_600_000, clock = Date.now) {
  const dir = await mkdtemp(join(tmpdir(), 'events-'));
  const store = await openEmbedded(dir, { retentionMs, clock });
  const close = async () => {
    await store[Symbol.asyncDispose]();
    await rm(dir, { recursive: true, force: true });
  };
  return { ...store, [Symbol.asyncDispose]: close };
}

/** What was counted, by name: `accepted`, `refused signature`, … */
function createCounts() {
  const counts: Record<string, number> = {};
  const count = (name: string, by = 1) => {
    if (by > 0) counts[name] = (counts[name] ?? 0) + by;
  };
  const metrics: Metrics = {
    ...createMetrics(),
    eventsAccepted: (by) => count('accepted', by),
    eventCopies: (by) => count('copy', by),
    eventsQuarantined: () => count('quarantined'),
    eventsWithoutTime: () => count('badTimestamp'),
    webhookRefused: (reason) => count(`refused ${reason}`),
  };
  const log: Log = { ...createLog('silent'), error: () => count('failed') };
  return { counts, metrics, log };
}

/** The webhook handler on a port of its own. */
export async function openWebhookReceiver(store: Store, parts: Partial<WebhookParts> = {}) {
  const { counts, metrics, log } = createCounts();
  const accepted: EventFacts[] = [];
  const handle = createWebhookHandler({
    store,
    signature: {
      header: 'x-signature',
      algorithm: 'sha256',
      encoding: 'hex',
      prefix: '',
      secret: SECRET,
      previousSecret: undefined,
    },
    now: Date.now,
    whenApplied: () => Promise.resolve(true),
    applyEverywhere: () => Promise.resolve(),
    onAccepted: (event) => void accepted.push(event),
    log,
    metrics,
    maxBytes: 256 * 1024,
    ...parts,
  });
  const server = createServer((req, res) => void handle(req, res));
  const port = await listen(server);

  const send = (body: Buffer, headers: OutgoingHttpHeaders = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const req = request(
        { port, host: '127.0.0.1', method: 'POST', headers, agent: false },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => void chunks.push(chunk));
          res.on('end', () =>
            resolve({
              status: res.statusCode ?? 0,
              headers: res.headers,
              body: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      req.on('error', reject).end(body);
    });

  return {
    port,
    counts,
    accepted,
    send,
    /** As the Partner API would: signed, over exactly these bytes. */
    deliver: (json: unknown, headers: OutgoingHttpHeaders = {}) => {
      const body = bytesOf(json);
      return send(body, { 'x-signature': macOf(body, SECRET), ...headers });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}
