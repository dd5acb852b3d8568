import type { IncomingHttpHeaders } from 'node:http';
import type { EventLog } from '../store/event-log.ts';
import type { Quarantine, QuarantineEntry } from '../store/store.ts';
import { readEnvelope, type ParsedEvent } from './envelope.ts';
import type { EventFacts, EventType, PartnerEvent } from './partner-event.ts';
import type { Verify } from './signature.ts';
import { toPartnerEvent } from './stored-event.ts';

export type Refusal = 'signature' | 'encoding' | 'malformed' | 'unavailable';

/** Counters. `failed` gets what stood behind an `unavailable`. */
export interface IngestObserver {
  accepted(type: EventType): void;
  copy(type: EventType): void;
  quarantined(): void;
  badTimestamp(): void;
  refused(reason: Refusal): void;
  failed(error: unknown): void;
}

export interface IngestParts {
  readonly log: Pick<EventLog, 'append'>;
  readonly quarantine: Pick<Quarantine, 'add'>;
  /** Undefined where no secret is configured: then nobody gets in. */
  readonly verify: Verify | undefined;
  readonly now: () => number;
  /**
   * Drops what the events make stale and records what they tell, before the sender hears that all is
   * well. Copies come too: this instance may have cached since, and a query must never be stale.
   */
  readonly onAccepted: (
    events: readonly PartnerEvent[],
    copies: readonly EventFacts[],
  ) => void | Promise<void>;
  readonly observer: IngestObserver;
}

export interface IngestAnswer {
  readonly status: 200 | 400 | 401 | 415 | 503;
}

/** Never rejects: what goes wrong here is the sender's to retry, and a 503 says so. */
export type Ingest = (headers: IncomingHttpHeaders, body: Uint8Array) => Promise<IngestAnswer>;

const TAKEN: IngestAnswer = { status: 200 };

export function createIngest(parts: IngestParts): Ingest {
  const { observer } = parts;

  function take(
    headers: IncomingHttpHeaders,
    body: Uint8Array,
  ): Promise<IngestAnswer> | IngestAnswer {
    if (parts.verify?.(headers, body) !== true) return refuse(401, 'signature');
    // Only whoever holds the secret learns that encodings are not understood here.
    if (isEncoded(headers)) return refuse(415, 'encoding');
    const receivedAt = parts.now();
    const envelope = readEnvelope(body, receivedAt);
    if (envelope.kind === 'malformed') return refuse(400, 'malformed');
    if (envelope.kind === 'unknown') {
      const { reason, body: text } = envelope;
      return setAside({ receivedAt, reason, body: text });
    }
    if (!envelope.credibleTime) observer.badTimestamp();
    return envelope.events.length > 0 ? accept(envelope.events) : TAKEN;
  }

  async function setAside(entry: QuarantineEntry): Promise<IngestAnswer> {
    await parts.quarantine.add(entry);
    observer.quarantined();
    return TAKEN;
  }

  async function accept(events: readonly ParsedEvent[]): Promise<IngestAnswer> {
    const stored = await parts.log.append(events.map(({ entry }) => entry));
    const fresh: PartnerEvent[] = [];
    const copies: EventFacts[] = [];
    events.forEach(({ facts }, i) => {
      const as = stored[i];
      if (as) fresh.push(toPartnerEvent(facts, as));
      else copies.push(facts);
    });
    const settling = parts.onAccepted(fresh, copies);
    if (settling) await settling;
    for (const { type } of fresh) observer.accepted(type);
    for (const { type } of copies) observer.copy(type);
    return TAKEN;
  }

  function refuse(status: 400 | 401 | 415 | 503, reason: Refusal): IngestAnswer {
    observer.refused(reason);
    return { status };
  }

  return async (headers, body) => {
    try {
      return await take(headers, body);
    } catch (error) {
      observer.failed(error);
      return refuse(503, 'unavailable');
    }
  };
}

function isEncoded(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}
