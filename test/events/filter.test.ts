import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_TYPES, type PartnerEvent } from '../../src/events/partner-event.ts';
import { createListenerIndex, matches, type EventFilter } from '../../src/events/filter.ts';
import type { Uuid } from '../../src/uuid.ts';
import { uuid } from '../support/events/deliveries.ts';
import { fastestMs } from '../support/fastest.ts';

// Few ids, so that filters match events; the same few in every role, so that a mix-up of roles shows.
const IDS = [uuid(), uuid(), uuid()] as const;
const id = fc.constantFrom(...IDS);

const filters: fc.Arbitrary<EventFilter> = fc
  .record(
    {
      types: fc.array(fc.constantFrom(...EVENT_TYPES), { maxLength: 4 }),
      organizationId: id,
      clinicId: id,
      clinicianId: id,
      clientId: id,
      sessionId: id,
    },
    { requiredKeys: [] },
  )
  .map((filter) => filter);

const dated = { position: 1, receivedAt: 0, occurredAt: new Date(0).toISOString() };
const scope = { clientId: id, clinicianId: id, clinicId: id, organizationId: id, sessionId: id };
const events: fc.Arbitrary<PartnerEvent> = fc.oneof(
  fc.record(scope).map((own): PartnerEvent => ({
    ...dated,
    ...own,
    type: 'transcript_ready',
    sessionExternalId: null,
  })),
  fc.record({ ...scope, progressNoteId: id }).map((own): PartnerEvent => ({
    ...dated,
    ...own,
    type: 'progress_note_generated',
    sessionExternalId: null,
  })),
  fc.record({ clientId: id, scoreId: id }).map((own): PartnerEvent => ({
    ...dated,
    ...own,
    type: 'assessment_completed',
    assessmentId: 'phq-9',
  })),
);

const assessment: PartnerEvent = {
  ...dated,
  type: 'assessment_completed',
  clientId: IDS[0],
  scoreId: IDS[1],
  assessmentId: 'phq-9',
};

describe('the index of subscriptions', () => {
  it('finds for any event exactly those whose filter matches it, each once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(filters, fc.boolean()), { maxLength: 30 }),
        fc.array(events, { minLength: 1, maxLength: 5 }),
        (subscribed, published) => {
          const index = createListenerIndex();
          let found: number[] = [];
          const removes = subscribed.map(([filter], i) =>
            index.add(filter, () => void found.push(i)),
          );
          subscribed.forEach(([, stays], i) => stays || removes[i]?.());
          for (const event of published) {
            found = [];
            index.emit(event);
            const wanted = subscribed.flatMap(([filter, stays], i) =>
              stays && matches(filter, event) ? [i] : [],
            );
            expect(found.toSorted((a, b) => a - b)).toEqual(wanted);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('checks no subscription that filters on another clinician', () => {
    const index = createListenerIndex();
    const found: string[] = [];
    let looks = 0;
    for (let i = 0; i < 1_000; i += 1) {
      const clinicianId = uuid();
      const filter = {
        get clinicianId() {
          looks += 1;
          return clinicianId;
        },
      };
      index.add(filter, () => void found.push('other'));
    }
    index.add({ clinicianId: IDS[0] }, () => void found.push('this one'));
    looks = 0;
    index.emit(transcriptOf(IDS[0]));
    expect(found).toEqual(['this one']);
    expect(looks).toBe(0);
  });

  it('removes a subscription, even when asked to more than once', () => {
    const index = createListenerIndex();
    const found: string[] = [];
    const remove = index.add({}, () => void found.push('a'));
    index.add({}, () => void found.push('b'));
    remove();
    remove();
    index.emit(transcriptOf(IDS[0]));
    expect(found).toEqual(['b']);
  });

  it('keeps nothing of removed subscriptions: an assessment is compared with nothing of theirs', async () => {
    const index = createListenerIndex();
    for (let i = 0; i < 50_000; i += 1) index.add({ clientId: `${i}` as Uuid }, () => {})();
    expect(await fastestMs(async () => index.emit(assessment))).toBeLessThan(0.2);
  });
});

describe('a filter', () => {
  it('makes an assessment a candidate by its client alone, and never by session', () => {
    expect(matches({ clinicId: IDS[1] }, assessment)).toBe(true);
    expect(matches({ clinicianId: IDS[1] }, assessment)).toBe(true);
    expect(matches({ organizationId: IDS[1] }, assessment)).toBe(true);
    expect(matches({ clientId: IDS[1], clinicId: IDS[2] }, assessment)).toBe(false);
    expect(matches({ sessionId: IDS[1] }, assessment)).toBe(false);
  });

  it('matches an event of a session by its own ids', () => {
    expect(matches({ clinicianId: IDS[1] }, transcriptOf(IDS[0]))).toBe(false);
    expect(matches({ clinicianId: IDS[0] }, transcriptOf(IDS[0]))).toBe(true);
  });

  it('matches nothing with an empty list of types', () => {
    expect(matches({ types: [] }, assessment)).toBe(false);
  });
});

function transcriptOf(clinicianId: (typeof IDS)[number]): PartnerEvent {
  return {
    ...dated,
    type: 'transcript_ready',
    sessionExternalId: null,
    sessionId: IDS[2],
    clientId: IDS[2],
    clinicianId,
    clinicId: IDS[2],
    organizationId: IDS[2],
  };
}
