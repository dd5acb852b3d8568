import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromStored, readEnvelope, toNewEvent } from '../../src/events/partner-event.ts';
import { assessments, bytesOf, delivery, uuid } from '../support/events/deliveries.ts';

const stored = (body: string) => ({ position: 7, receivedAt: 1_000, body });

describe('an entry of the log', () => {
  it('decodes to the event that was delivered', () => {
    const deliveries = [
      delivery('progress_note_regenerated'),
      delivery('transcript_ready', { sessionExternalId: 'line\nbreak' }),
      delivery('session_transcript_error'),
      delivery('mdm_elements_identified', { mdmId: undefined }),
      assessments(uuid(), [uuid()]),
    ];
    for (const json of deliveries) {
      const envelope = readEnvelope(bytesOf(json), 1_000);
      if (envelope.kind !== 'events') throw new Error('expected events');
      for (const facts of envelope.events) {
        expect(fromStored(stored(toNewEvent(facts, 1_000).body))).toEqual({
          ...facts,
          position: 7,
          receivedAt: 1_000,
        });
      }
    }
  });

  it('is undefined where another version wrote a format unknown to this one', () => {
    const bodies = [
      '',
      'x',
      'null',
      '[]',
      '{}',
      '{"type":"progress_note_deleted","occurredAt":""}',
    ];
    for (const body of bodies) expect(fromStored(stored(body))).toBeUndefined();
    fc.assert(fc.property(fc.json(), (body) => fromStored(stored(body)) === undefined));
  });
});
