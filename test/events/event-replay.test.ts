import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventFilter, matches } from '../../src/events/filter.ts';
import { type EventHub, EventsExpired } from '../../src/events/event-hub.ts';
import { type PartnerEvent, fromStored } from '../../src/events/partner-event.ts';
import type { EventLog } from '../../src/store/store.ts';
import { delivery, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-webhook-receiver.ts';
import {
  append,
  appendUnreadable,
  caughtUp,
  openTestHub,
  turn,
} from '../support/events/open-hub.ts';

/** Replays at the listener's pace. Resolves once it is live, and to a function that waits until all is handled. */
async function subscribeFrom(
  hub: EventHub,
  after: number,
  filter: EventFilter,
  listener: (event: PartnerEvent) => void | Promise<void>,
): Promise<() => Promise<void>> {
  let position = after;
  while (position < hub.position) {
    const { events, scannedTo } = await hub.scan(position);
    for (const event of events) if (matches(filter, event)) await listener(event);
    position = scannedTo;
  }
  let handled: Promise<void> = Promise.resolve();
  hub.subscribe(filter, (event) => {
    if (event.position > position) handled = handled.then(() => listener(event));
  });
  return () => handled;
}

const transcripts = (count: number) =>
  Array.from({ length: count }, () => delivery('transcript_ready'));

describe('a subscription after a cursor', () => {
  it('ahead of this instance waits for the events after its cursor', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const received: number[] = [];
    const allRead = await subscribeFrom(
      opened.hub,
      2,
      {},
      ({ position }) => void received.push(position),
    );
    await append(store.log, ...transcripts(4));
    await caughtUp(opened.hub, store.log);
    await allRead();
    expect(received).toEqual([3, 4]);
  });

  it('opened inside a listener includes the event being delivered', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const received: number[] = [];
    const note = ({ position }: { readonly position: number }) => void received.push(position);
    const joined = Promise.withResolvers<() => Promise<void>>();
    const stop = opened.hub.subscribe({}, (event) => {
      stop();
      joined.resolve(subscribeFrom(opened.hub, event.position - 1, {}, note));
    });
    await append(store.log, ...transcripts(2));
    const allRead = await joined.promise;
    await caughtUp(opened.hub, store.log);
    await allRead();
    expect(received).toEqual([1, 2]);
  });

  it('has expired if the log is trimmed past it while it replays', async () => {
    let now = Date.now();
    await using store = await openTestStore(60_000, () => now);
    await append(store.log, ...transcripts(250));
    await using opened = await openTestHub(store.log);
    const received: number[] = [];
    const slow = async ({ position }: { readonly position: number }) => {
      received.push(position);
      if (position !== 100) return;
      now += 120_000;
      await store.log.trim();
    };
    await expect(subscribeFrom(opened.hub, 0, {}, slow)).rejects.toThrow(EventsExpired);
    // A chunk is read at once and delivered completely.
    expect(received).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });
});

const CLINICS = [uuid(), uuid()] as const;
const clinic = fc.constantFrom(...CLINICS);

type Step =
  | { readonly do: 'append'; readonly clinics: readonly (typeof CLINICS)[number][] }
  | { readonly do: 'garbage' }
  | { readonly do: 'wait'; readonly turns: number }
  | {
      readonly do: 'subscribe';
      readonly back: number;
      readonly slowness: number;
      readonly filter: EventFilter;
    };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), clinics: fc.array(clinic, { maxLength: 6 }) }),
  fc.record({ do: fc.constant('garbage' as const) }),
  fc.record({ do: fc.constant('wait' as const), turns: fc.nat({ max: 4 }) }),
  fc.record({
    do: fc.constant('subscribe' as const),
    back: fc.nat({ max: 12 }),
    slowness: fc.nat({ max: 3 }),
    filter: fc.oneof(
      fc.constant({}),
      clinic.map((clinicId) => ({ clinicId })),
    ),
  }),
);

async function appendTo(log: EventLog, clinics: readonly string[]): Promise<void> {
  await append(log, ...clinics.map((clinicId) => delivery('transcript_ready', { clinicId })));
}

describe('replay and live together', () => {
  it('keep the order of the log for every subscriber, however the two interleave', async () => {
    await using store = await openTestStore();
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 4, maxLength: 16 }), async (script) => {
        await using opened = await openTestHub(store.log);
        const { hub } = opened;
        const subscribers: { after: number; filter: EventFilter; received: number[] }[] = [];
        const running: Promise<void | (() => Promise<void>)>[] = [];
        for (const step of script) {
          // Appends are not awaited: they happen while others replay.
          if (step.do === 'append') running.push(appendTo(store.log, step.clinics));
          if (step.do === 'garbage') running.push(appendUnreadable(store.log, uuid()));
          if (step.do === 'wait') for (let i = 0; i < step.turns; i += 1) await turn();
          if (step.do !== 'subscribe') continue;
          const after = Math.max(0, hub.position - step.back);
          const received: number[] = [];
          subscribers.push({ after, filter: step.filter, received });
          const listener = async ({ position }: { readonly position: number }) => {
            received.push(position);
            for (let i = 0; i < step.slowness; i += 1) await turn();
          };
          running.push(subscribeFrom(hub, after, step.filter, listener));
        }
        const subscribed = await Promise.all(running);
        await caughtUp(hub, store.log);
        for (const allRead of subscribed) await allRead?.();
        for (const { after, filter, received } of subscribers) {
          const { events } = await store.log.read(after, 1_000);
          const readable = events.map(fromStored).filter((event) => event !== undefined);
          const wanted = readable.filter((event) => matches(filter, event));
          expect(received).toEqual(wanted.map(({ position }) => position));
        }
      }),
      { numRuns: 40 },
    );
  });
});
