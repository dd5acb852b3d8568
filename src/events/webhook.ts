import { createHmac, createSecretKey } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

import type { Config } from '../config.ts';
import { StoreUnavailable } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics, WebhookRefusal } from '../observability/metrics.ts';
import { createLimitedLog } from '../observability/observers.ts';
import { requestIdOf } from '../observability/request-id.ts';
import { BodyTooLarge, createBodyReader } from '../request-body.ts';
import { isSame } from '../sealed-text.ts';
import type { Store } from '../store/store.ts';
import { type EventFacts, readEnvelope, toNewEvent } from './partner-event.ts';

/** The Partner API does not document its signatures, so everything here is configured. */
export type SignatureSettings = Config['webhook'] & { readonly secret: string };

export interface WebhookParts {
  readonly store: Pick<Store, 'log' | 'quarantine'>;
  readonly signature: SignatureSettings;
  readonly now: () => number;
  /** Resolves to true when this instance has applied the event at this position, or to false after a second. */
  readonly whenApplied: (position: number) => Promise<boolean>;
  /** Invalidates what the events make stale, here and on other instances. Never rejects. */
  readonly applyEverywhere: (events: readonly EventFacts[]) => Promise<void>;
  /** Called for a new event on the instance that received it, and on no other. A hint, which never throws. */
  readonly onAccepted: (event: EventFacts) => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly maxBytes: number;
}

/** The caller checks the route and the method. The content type is not checked: the signature does not cover it. */
export function createWebhookHandler(parts: WebhookParts) {
  const { metrics, signature, store } = parts;
  const verify = createVerifier(signature);
  const writeLimited = createLimitedLog(parts.log, 60_000);
  const read = createBodyReader(parts.maxBytes);

  /** The status of the response. Never rejects: on any failure of ours the sender gets a 503 and retries. */
  async function ingest(req: IncomingMessage): Promise<number | undefined> {
    const requestId = requestIdOf(req);
    try {
      const body = await read(req);
      if (!verify(req.headers, body)) return rejected(401, 'signature');
      // Only a sender with the secret learns that encodings are not supported.
      const encoding = req.headers['content-encoding']?.trim().toLowerCase();
      if (encoding && encoding !== 'identity') return rejected(415, 'encoding');
      const receivedAt = parts.now();
      // The wall clock is later if it was corrected after the start, or the machine was suspended.
      const envelope = readEnvelope(body, receivedAt, Math.max(receivedAt, Date.now()));
      if (envelope.kind === 'malformed') return rejected(400, 'malformed');
      if (envelope.kind === 'unknown') {
        await store.quarantine.add({ receivedAt, reason: envelope.reason, body: envelope.body });
        metrics.eventsQuarantined();
        const message = 'signed webhooks were not understood and are in quarantine';
        writeLimited('warn', message, { requestId });
        return 200;
      }
      const { events, sentAt } = envelope;
      if (sentAt === undefined) {
        metrics.eventsWithoutTime();
        writeLimited('warn', 'webhooks came without a usable time stamp', { requestId });
      }
      if (events.length > 0) await accept(events, receivedAt, sentAt);
      return 200;
    } catch (error) {
      if (error instanceof BodyTooLarge) return rejected(413, 'size');
      // A sender that disconnects gets no response, so it will deliver again.
      if (!req.complete) return undefined;
      const reason = error instanceof StoreUnavailable ? error.message : undefined;
      writeLimited('error', 'webhooks could not be stored', { error, reason, requestId });
      return rejected(503, 'unavailable');
    }
  }

  async function accept(events: readonly EventFacts[], receivedAt: number, sentAt?: string) {
    const entries = events.map((facts) => toNewEvent(facts, receivedAt, sentAt));
    const positions = await store.log.append(entries);
    const copies = events.filter((_facts, i) => !positions[i]);
    events.forEach((facts, i) => positions[i] && parts.onAccepted(facts));
    metrics.eventsAccepted(events.length - copies.length);
    metrics.eventCopies(copies.length);
    // Copies are not in the log.
    if (copies.length > 0) await parts.applyEverywhere(copies);
    const newest = Math.max(...positions);
    // The log can't be read for now, but responses must not be stale from here on.
    if (newest > 0 && !(await parts.whenApplied(newest))) void parts.applyEverywhere(events);
  }

  function rejected(status: number, reason: WebhookRefusal): number {
    metrics.webhookRefused(reason);
    // Never the header's value.
    if (reason === 'signature')
      writeLimited('warn', `webhook signature mismatch in header ${signature.header}`);
    // The sender does not send these again.
    else if (reason !== 'unavailable')
      writeLimited('warn', `webhooks were rejected with status ${status} (${reason})`);
    return status;
  }

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const status = await ingest(req);
    if (status === undefined) return;
    if (status === 503) res.setHeader('retry-after', '5');
    // No body, so that a sender without the secret gets no details.
    res.writeHead(status, { 'content-length': 0 }).end();
  };
}

/** True only if the header has a valid MAC of exactly these bytes. Never throws, whatever the header holds. */
export function createVerifier(settings: SignatureSettings) {
  const { header, algorithm, encoding, prefix, secret: current, previousSecret = '' } = settings;
  // Anyone could sign with an empty key, so an empty secret is ignored. Without a secret nothing is accepted.
  // The previous one is still accepted while the secret is rotated.
  const keys = [current, previousSecret]
    .filter((secret) => secret !== '')
    .map((secret) => createSecretKey(secret, 'utf8'));

  return (headers: IncomingHttpHeaders, body: Uint8Array): boolean => {
    const value = headers[header];
    if (typeof value !== 'string' || !value.startsWith(prefix)) return false;
    // Hex may be in either case, and base64url padded. Any other spelling of the same bytes is rejected.
    const sent = value.slice(prefix.length).replace(encoding === 'base64url' ? /==?$/ : '', '');
    const given = Buffer.from(encoding === 'hex' ? sent.toLowerCase() : sent);
    const macs = keys.map((key) => createHmac(algorithm, key).update(body).digest(encoding));
    return macs.map((mac) => isSame(Buffer.from(mac), given)).includes(true);
  };
}
