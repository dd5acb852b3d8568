import { describe, expect, it } from 'vitest';

import { redrive } from '../../scripts/quarantine.ts';
import type { HubParts } from '../../src/events/event-hub.ts';
import type { PartnerEvent } from '../../src/events/partner-event.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { delivery, uuid } from '../support/events/deliveries.ts';
import { append, caughtUp, openTestHub } from '../support/events/open-hub.ts';
import { engines } from '../support/store/engines.ts';

const FAILING = uuid();

/** Fails on one event, every time, until it is repaired. */
function createHandler() {
  let [tries, isMended] = [0, false];
  return {
    handle(event: PartnerEvent): void {
      if (isMended || !('sessionId' in event) || event.sessionId !== FAILING) return;
      tries += 1;
      throw new TypeError('no such property');
    },
    tries: () => tries,
    mend: () => (isMended = true),
  };
}

async function openFailing(store: Store, parts: Partial<HubParts>) {
  const opened = await openTestHub(store.log, { addToQuarantine: store.quarantine.add, ...parts });
  const received: string[] = [];
  const collect = (event: PartnerEvent) =>
    void received.push('sessionId' in event ? event.sessionId : '');
  return { ...opened, received, collect };
}

const ready = (sessionId: string) => delivery('transcript_ready', { sessionId });

describe.each(engines)('an event that can’t be handled ($name)', ({ create }) => {
  it('is quarantined after five attempts, and all others are delivered in order', async () => {
    await using engine = await create();
    const [store] = await engine.open();
    const handler = createHandler();
    await using opened = await openFailing(store, { apply: handler.handle });
    const { hub, received, collect } = opened;
    hub.subscribe({}, collect);
    const [first, last] = [uuid(), uuid()];
    await append(store.log, ready(first), ready(FAILING), ready(last));
    await caughtUp(hub, store.log);
    expect([received, handler.tries()]).toEqual([[first, last], 5]);
    const [held, ...more] = await store.quarantine.list(10);
    expect(more).toEqual([]);
    expect(held?.reason).toBe('transcript_ready: could not be handled (TypeError)');

    handler.mend();
    expect(await redrive(store)).toEqual({
      deliveries: 1,
      events: 1,
      left: 0,
    });
    await caughtUp(hub, store.log);
    expect(received).toEqual([first, last, FAILING]);
  });

  it('is one event when it is replayed, however many instances quarantined it', async () => {
    await using engine = await create();
    const stores = await engine.open(2);
    const handler = createHandler();
    await using first = await openFailing(stores[0], { apply: handler.handle });
    await using second = await openFailing(stores[1] ?? stores[0], { apply: handler.handle });
    await append(stores[0].log, ready(FAILING));
    await Promise.all([caughtUp(first.hub, stores[0].log), caughtUp(second.hub, stores[0].log)]);
    expect(await redrive(stores[0])).toEqual({
      deliveries: 2,
      events: 1,
      left: 0,
    });
  });

  it('is read in pieces when the quarantine is replayed', async () => {
    await using engine = await create();
    const [store] = await engine.open();
    const [known, unknown] = [ready(uuid()), { eventType: 'x', payload: {} }];
    for (let i = 0; i < 250; i += 1) {
      const body = JSON.stringify(i === 249 ? known : unknown);
      await store.quarantine.add({ receivedAt: 1_000, reason: 'unknown eventType', body });
    }
    const sizes: number[] = [];
    const quarantine: typeof store.quarantine = {
      ...store.quarantine,
      async list(limit, after) {
        const page = await store.quarantine.list(limit, after);
        sizes.push(page.length);
        return page;
      },
    };
    const replayed = await redrive({ ...store, quarantine });
    expect([replayed, sizes]).toEqual([{ deliveries: 1, events: 1, left: 249 }, [100, 100, 50]]);
  });
});

it('never quarantines an event because the store is unavailable', async () => {
  await using engine = await engines[0].create();
  const [store] = await engine.open();
  await using opened = await openFailing(store, {});
  await append(store.log, ready(FAILING));
  await caughtUp(opened.hub, store.log);
  const { events } = await opened.hub.scan(0);
  const task = () => Promise.reject(new StoreUnavailable('down'));
  await expect(opened.hub.runOrQuarantine(events[0]!, 'execute', task)).rejects.toThrow('down');
  expect(await store.quarantine.count()).toBe(0);
});
