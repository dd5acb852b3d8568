import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../observability/log.ts';
import type { Metrics, WebhookRefusal } from '../observability/metrics.ts';
import { limited } from '../observability/observers.ts';
import type { EventLog } from '../store/event-log.ts';
import type { Quarantine } from '../store/store.ts';
import { StoreUnavailable } from '../errors.ts';
import { BodyTooLarge, createBodyReader } from '../request-body.ts';
import { readEnvelope } from './envelope.ts';
import { type EventFacts, toNewEvent } from './partner-event.ts';
import type { Verify } from './signature.ts';

export interface WebhookParts {
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly quarantine: Pick<Quarantine, 'add'>;
  readonly verify: Verify;
  readonly signatureHeader: string;
  readonly now: () => number;
  /** Resolves when this instance has applied the event at this position, or after a second. */
  readonly whenApplied: (position: number) => Promise<void>;
  /** Invalidates the paths of copies here and on other instances: copies are not in the log. */
  readonly applyCopies: (copies: readonly EventFacts[]) => Promise<void>;
  /** Called for a new event on the instance that received it, and on no other. */
  readonly onAccepted: (event: EventFacts) => void;
  /** For the operator. */
  readonly log: Log;
  readonly metrics: Metrics;
  readonly maxBytes: number;
}

type Status = 200 | 400 | 401 | 413 | 415 | 503;

const RETRY_AFTER_SECONDS = '5';

/** The caller checks the route and the method. The content type is not checked: the signature does not cover it. */
export function createWebhookHandler(parts: WebhookParts) {
  const { metrics } = parts;
  const writeLimited = limited(parts.log, 60_000);
  const read = createBodyReader(parts.maxBytes);

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const body = await read(req);
      const requestId = res.getHeader('x-request-id')?.toString();
      answer(res, await ingest(req.headers, body, requestId));
    } catch (error) {
      // A sender that disconnects got no response, so it will deliver again.
      if (error instanceof BodyTooLarge) answer(res, rejected(413, 'size'));
    }
  }

  /** Never rejects: on any failure the sender gets a 503 and retries. */
  async function ingest(
    headers: IncomingHttpHeaders,
    body: Uint8Array,
    requestId: string | undefined,
  ): Promise<Status> {
    try {
      if (!parts.verify(headers, body)) return rejected(401, 'signature');
      // Only a sender with the secret learns that encodings are not supported.
      if (isEncoded(headers)) return rejected(415, 'encoding');
      const receivedAt = parts.now();
      // The wall clock is later if it was corrected after the start, or the machine was suspended.
      const envelope = readEnvelope(body, receivedAt, Math.max(receivedAt, Date.now()));
      if (envelope.kind === 'malformed') return rejected(400, 'malformed');
      if (envelope.kind === 'unknown') {
        await parts.quarantine.add({ receivedAt, reason: envelope.reason, body: envelope.body });
        metrics.eventsQuarantined();
        writeLimited('warn', 'signed webhooks were not understood and are in quarantine', {
          requestId,
        });
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
      const reason = error instanceof StoreUnavailable ? error.message : undefined;
      writeLimited('error', 'webhooks could not be stored', { error, reason, requestId });
      return rejected(503, 'unavailable');
    }
  }

  async function accept(events: readonly EventFacts[], receivedAt: number, sentAt?: string) {
    const entries = events.map((facts) => toNewEvent(facts, receivedAt, sentAt));
    const positions = await parts.eventLog.append(entries);
    const copies: EventFacts[] = [];
    events.forEach((facts, i) => {
      if (positions[i]) {
        parts.onAccepted(facts);
        metrics.eventsAccepted();
      } else {
        copies.push(facts);
        metrics.eventCopies();
      }
    });
    if (copies.length > 0) await parts.applyCopies(copies);
    const newest = Math.max(...positions);
    if (newest > 0) await parts.whenApplied(newest);
  }

  function rejected(status: Status, reason: WebhookRefusal): Status {
    metrics.webhookRefused(reason);
    // Never the header's value.
    if (reason === 'signature')
      writeLimited('warn', `webhook signature mismatch in header ${parts.signatureHeader}`);
    // The sender does not send these again.
    else if (reason !== 'unavailable')
      writeLimited('warn', `webhooks were rejected with status ${status} (${reason})`);
    return status;
  }

  return handle;
}

/** A status and no body, so that a sender without the secret gets no details. */
function answer(res: ServerResponse, status: Status): void {
  if (status === 503) res.setHeader('retry-after', RETRY_AFTER_SECONDS);
  res.writeHead(status, { 'content-length': 0 }).end();
}

function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}
