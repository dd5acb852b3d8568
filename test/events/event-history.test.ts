import { describe, expect, it } from 'vitest';
import { EventsExpired } from '../../src/events/cursor-errors.ts';
import { redrive } from '../../src/events/redrive.ts';
import { fromStored } from '../../src/events/stored-event.ts';
import { assessments, delivery, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-door.ts';
import { append, appendUnreadable, caughtUp, openTestHub } from '../support/events/open-hub.ts';

describe('the history of events', () => {
  it('holds what the filter takes, a page at a time, oldest first', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const clientId = uuid();
    const [mine, others] = [{ clientId }, {}];
    for (const payload of [mine, others, mine, mine, others]) {
      await append(store.log, delivery('transcript_ready', payload));
    }
    const first = await opened.hub.history(0, { clientId }, 2);
    expect(first.events.map(({ position }) => position)).toEqual([1, 3]);
    expect(first.hasMore).toBe(true);
    const second = await opened.hub.history(first.scannedTo, { clientId }, 2);
    expect(second.events.map(({ position }) => position)).toEqual([4]);
    expect(second).toMatchObject({ hasMore: false, scannedTo: 5 });
  });

  it('scans a bounded stretch, and says where to go on', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const scores = Array.from({ length: 500 }, uuid);
    for (let i = 0; i < 21; i += 1) {
      await append(
        store.log,
        assessments(
          uuid(),
          scores.map(() => uuid()),
        ),
      );
    }
    await append(store.log, delivery('transcript_ready'));
    const filter = { types: ['transcript_ready'] } as const;
    const first = await opened.hub.history(0, filter, 5);
    expect(first).toEqual({ events: [], hasMore: true, scannedTo: 10_000 });
    const second = await opened.hub.history(first.scannedTo, filter, 5);
    expect(second).toMatchObject({ events: [{ position: 10_501 }], hasMore: false });
  });

  it('passes over what it can not read', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    await appendUnreadable(store.log, 'a');
    await append(store.log, delivery('transcript_ready'));
    await appendUnreadable(store.log, 'b');
    const page = await opened.hub.history(0, {}, 5);
    expect(page).toMatchObject({ events: [{ position: 2 }], hasMore: false, scannedTo: 3 });
  });

  it('has expired where the log was trimmed', async () => {
    let now = Date.now();
    await using store = await openTestStore(60_000, () => now);
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    now += 120_000;
    await store.log.trim();
    await expect(opened.hub.history(0, {}, 5)).rejects.toThrow(EventsExpired);
    expect(await opened.hub.oldestPosition()).toBe(2);
    expect((await opened.hub.history(2, {}, 5)).events).toEqual([]);
  });

  it('shows no event that the caches do not know of', async () => {
    await using store = await openTestStore();
    await using elsewhere = await openTestStore();
    const known: number[] = [];
    const silent = { ...store.log, follow: elsewhere.log.follow.bind(elsewhere.log) };
    await using opened = await openTestHub(silent, {
      before: (events) => void known.push(...events.map(({ position }) => position)),
    });
    const sessionId = uuid();
    await append(store.log, delivery('transcript_ready', { sessionId }));
    expect(await opened.hub.ofSession(sessionId)).toHaveLength(1);
    expect(known).toEqual([1]);
  });

  it('of a session holds that session alone', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const sessionId = uuid();
    await append(
      store.log,
      delivery('transcript_ready', { sessionId }),
      delivery('transcript_ready'),
    );
    await append(store.log, delivery('progress_note_generated', { sessionId }));
    const types = (await opened.hub.ofSession(sessionId)).map(({ type }) => type);
    expect(types).toEqual(['transcript_ready', 'progress_note_generated']);
  });
});

describe('redriving the quarantine', () => {
  it('lets in what can be read by now, once, and keeps the rest', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const told: number[] = [];
    opened.hub.subscribe({}, ({ position }) => void told.push(position));
    const held = [{ eventType: 'x', payload: {} }, delivery('transcript_ready')];
    for (const json of [...held, held[1]]) {
      const body = JSON.stringify(json);
      await store.quarantine.add({ receivedAt: 1_000, reason: 'unknown eventType', body });
    }
    const { log, quarantine } = store;
    expect(await redrive(log, quarantine)).toEqual({ deliveries: 2, events: 1, left: 1 });
    expect(await redrive(log, quarantine)).toEqual({ deliveries: 0, events: 0, left: 1 });
    await caughtUp(opened.hub, log);
    expect(told).toEqual([1]);
    expect((await log.read(0, 5)).map(fromStored)).toMatchObject([{ receivedAt: 1_000 }]);
  });
});
