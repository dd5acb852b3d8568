import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES, readEnvelope, toNewEvent } from '../../src/events/partner-event.ts';
import {
  assessments,
  bytesOf,
  delivery,
  SENT_AT,
  uuid,
  type Json,
} from '../support/events/deliveries.ts';

const NOW = Date.UTC(2025, 5, 1);
const RECEIVED = new Date(NOW).toISOString();

const read = (json: unknown) => readEnvelope(bytesOf(json), NOW);

function events(json: unknown) {
  const envelope = read(json);
  if (envelope.kind !== 'events') throw new Error(`expected events, but got ${envelope.kind}`);
  const { sentAt } = envelope;
  return envelope.events.map((facts) => ({ facts, entry: toNewEvent(facts, NOW, sentAt), sentAt }));
}

const only = (json: unknown) => {
  const [event, ...others] = events(json);
  if (event === undefined || others.length > 0) throw new Error('expected one event');
  return event;
};

describe('a delivery', () => {
  it('of a progress note is keyed by the note, and also by its time if it is a regeneration', () => {
    const [progressNoteId, sessionId] = [uuid(), uuid()];
    for (const type of ['generated', 'regenerated', 'finalized'] as const) {
      const { facts, entry } = only(
        delivery(`progress_note_${type}`, { progressNoteId, sessionId }),
      );
      expect(facts).toMatchObject({ progressNoteId, sessionId, occurredAt: SENT_AT });
      expect(entry.key).toBe(`progress_note_${type}:${progressNoteId}`);
      expect(entry.subject).toBe(`session:${sessionId}`);
      expect(entry.time).toBe(type === 'regenerated' ? SENT_AT : undefined);
    }
  });

  it('of a transcript or of MDM elements is keyed by its session', () => {
    const sessionId = uuid();
    for (const type of [
      'transcript_ready',
      'session_transcript_error',
      'mdm_elements_identified',
    ] as const) {
      expect(only(delivery(type, { sessionId })).entry.key).toBe(`${type}:${sessionId}`);
    }
  });

  it('may lack fields that are nullable in the schema', () => {
    const payload = { mdmId: undefined, sessionExternalId: undefined };
    expect(only(delivery('mdm_elements_identified', payload)).facts).toMatchObject({
      mdmId: null,
      sessionExternalId: null,
    });
  });

  it('may name its organization in the deprecated field', () => {
    const organization = uuid();
    const payload = { organizationId: undefined, organization };
    expect(only(delivery('progress_note_generated', payload)).facts).toMatchObject({
      organizationId: organization,
    });
  });

  it('has its free text truncated at whole characters', () => {
    const externalId = `${'x'.repeat(511)}😀${'y\n'.repeat(50_000)}`;
    const { facts } = only(delivery('transcript_ready', { sessionExternalId: externalId }));
    expect('sessionExternalId' in facts && facts.sessionExternalId).toBe(
      `${'x'.repeat(511)}\uFFFD`,
    );
    const long = only(delivery('session_transcript_error', { error: 'e'.repeat(100_000) })).facts;
    expect('error' in long && long.error.length).toBe(4_096);
  });
});

it.each([undefined, null, 5, {}])('a failed transcription counts with %j as its text', (error) => {
  expect(only(delivery('session_transcript_error', { error })).facts).toMatchObject({ error: '' });
});

const timed = (timeStamp: unknown) => {
  const { facts, entry, sentAt } = only(delivery('progress_note_regenerated', {}, { timeStamp }));
  return [facts.occurredAt, entry.time, sentAt !== undefined];
};

describe('a time stamp', () => {
  it('is normalised to UTC', () => {
    const noon = '2025-05-06T12:00:00.000Z';
    for (const text of [
      '2025-05-06T14:00:00+02:00',
      '2025-05-06 14:00:00.000+0200',
      '2025-05-06T12:00',
      '2025-05-06T14:00:00+02',
      '2025-05-06T12Z',
      '20250506T120000Z',
      '20250506T1400+0200',
      `2025-05-06T12:00:00,${'0'.repeat(20)}z`,
    ]) {
      expect(timed(text)).toEqual([noon, noon, true]);
    }
    expect(timed('2025-05-06T12:00:00.123456Z')[0]).toBe('2025-05-06T12:00:00.123Z');
    expect(timed('20250506T120000,123')[0]).toBe('2025-05-06T12:00:00.123Z');
  });

  it('is replaced by the time of receipt when missing or unreadable', () => {
    for (const text of [
      undefined,
      null,
      5,
      '',
      'yesterday',
      '2025-13-01T00:00:00Z',
      '2025-02-29T00:00:00Z',
      '20250229T000000Z',
      'x'.repeat(9_999),
      {},
    ]) {
      expect(timed(text)).toEqual([RECEIVED, undefined, false]);
    }
  });

  it('is replaced by the time of receipt when it is implausible', () => {
    const ahead = (ms: number) => new Date(Date.parse(RECEIVED) + ms).toISOString();
    for (const text of ['9999-12-31T23:59:59.000Z', '1970-01-01T00:00:00.000Z', ahead(300_001)]) {
      expect(timed(text)).toEqual([RECEIVED, undefined, false]);
    }
    expect(timed(ahead(300_000))).toEqual([ahead(300_000), ahead(300_000), true]);
  });
});

const scores = (count: number) => assessments(uuid(), Array.from({ length: count }, uuid));

describe('an assessment delivery', () => {
  it('becomes one event for each score, with the patient as its only id', () => {
    const [clientId, first, second] = [uuid(), uuid(), uuid()];
    const found = events(
      assessments(clientId, [first, second.toUpperCase()], {
        clientId: uuid(),
        clinicId: uuid(),
        sessionId: uuid(),
      }),
    );
    expect(found.map(({ entry }) => entry.key)).toEqual([
      `assessment_completed:${first}`,
      `assessment_completed:${second}`,
    ]);
    for (const { facts } of found) {
      expect(Object.keys(facts).toSorted()).toEqual([
        'assessmentId',
        'clientId',
        'occurredAt',
        'scoreId',
        'type',
      ]);
      expect(facts.clientId).toBe(clientId);
    }
  });

  it('may have up to five hundred scores, or none, and is quarantined with more', () => {
    expect(events(scores(0))).toEqual([]);
    expect(events(scores(500))).toHaveLength(500);
    expect(read(scores(501)).kind).toBe('unknown');
    expect(
      read(
        assessments(
          uuid(),
          Array.from({ length: 100_000 }, () => 'x'),
        ),
      ).kind,
    ).toBe('unknown');
  });
});

describe('a delivery that cannot be read', () => {
  it('is quarantined when its payload lacks an id, with a reason that contains no value', () => {
    const required = ['sessionId', 'clientId', 'clinicianId', 'clinicId', 'organizationId'];
    for (const name of [...required, 'progressNoteId']) {
      for (const value of [undefined, null, 'SECRET-VALUE', 5, {}, [uuid()]]) {
        const envelope = read(delivery('progress_note_finalized', { [name]: value }));
        const reason = `progress_note_finalized: ${name} must be a UUID`;
        expect(envelope).toMatchObject({ kind: 'unknown', reason });
      }
    }
  });

  it('is quarantined when an assessment has no patient or invalid scores', () => {
    const bad: readonly Json[] = [
      { patientId: 'x' },
      { assessmentScores: {} },
      { assessmentScores: [null] },
      { assessmentScores: [{ id: uuid() }] },
      { assessmentScores: [{ id: 'x', assessmentId: 'phq-9' }] },
    ];
    for (const payload of bad) expect(read(assessments(uuid(), [], payload)).kind).toBe('unknown');
  });
});

describe('reading an envelope', () => {
  it('never throws on any bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void readEnvelope(bytes, NOW)));
  });

  it('never throws on any JSON, and never changes a prototype', () => {
    const type = fc.constantFrom(...EVENT_TYPES, '__proto__', 'x');
    const payload = fc.oneof(
      fc.object({ withNullPrototype: true }),
      fc.record({ patientId: fc.uuid(), assessmentScores: fc.array(fc.jsonValue()) }),
      fc.jsonValue().map((__proto__) => ({ ['__proto__']: __proto__, ['constructor']: 1 })),
    );
    const envelopes = fc.record({ eventType: type, timeStamp: fc.jsonValue(), payload });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), envelopes), (json) => {
        read(json);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });
});
