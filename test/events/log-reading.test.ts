import { describe, expect, it } from 'vitest';
import { EventsExpired } from '../../src/events/event-hub.ts';
import { delivery, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-webhook-receiver.ts';
import { append, caughtUp, openTestHub } from '../support/events/open-hub.ts';

describe('reading the log', () => {
  it('continues from any position, a chunk at a time, oldest first', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    await append(store.log, ...Array.from({ length: 5 }, () => delivery('transcript_ready')));
    await caughtUp(opened.hub, store.log);
    const first = await opened.hub.scan(1, 3);
    expect(first.events.map(({ position }) => position)).toEqual([2, 3, 4]);
    const second = await opened.hub.scan(first.scannedTo, 3);
    expect(second).toMatchObject({ events: [{ position: 5 }], scannedTo: 5 });
    expect(await opened.hub.scan(5, 3)).toEqual({ events: [], scannedTo: 5 });
  });

  it('throws where the log was trimmed', async () => {
    let now = Date.now();
    await using store = await openTestStore(60_000, () => now);
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    now += 120_000;
    await store.log.trim();
    await expect(opened.hub.scan(0, 5)).rejects.toThrow(EventsExpired);
    expect(await opened.hub.oldestPosition()).toBe(2);
    expect((await opened.hub.scan(2, 5)).events).toEqual([]);
  });

  it('returns no event before it is applied', async () => {
    await using store = await openTestStore();
    let fails = true;
    const apply = () => {
      if (fails) throw new Error('not yet');
    };
    await using opened = await openTestHub(store.log, { apply });
    const sessionId = uuid();
    await append(store.log, delivery('transcript_ready', { sessionId }));
    expect((await opened.hub.scan(0, 5)).events).toEqual([]);
    expect(await opened.hub.ofSession(sessionId, 5)).toEqual([]);
    fails = false;
    await caughtUp(opened.hub, store.log);
    expect((await opened.hub.scan(0, 5)).events).toHaveLength(1);
    expect(await opened.hub.ofSession(sessionId, 5)).toHaveLength(1);
  });

  it('runs the reads of one reader in turn, and those of other readers in parallel', async () => {
    await using store = await openTestStore();
    await append(store.log, delivery('transcript_ready'));
    let running = 0;
    const reads = { most: 0, done: 0 };
    const held = Promise.withResolvers<void>();
    const slow: typeof store.log = {
      ...store.log,
      async read(after, limit) {
        running += 1;
        reads.most = Math.max(reads.most, running);
        if (after === 0) await held.promise;
        running -= 1;
        return store.log.read(after, limit);
      },
    };
    await using opened = await openTestHub(slow);
    const read = (viewer: string, after: number) =>
      opened.hub.oneAtATime(viewer, () => opened.hub.scan(after, 5));
    const mine = Array.from({ length: 10 }, () => read('viewer', 0));
    await read('another viewer', 1);
    expect(reads.most).toBe(2);
    held.resolve();
    expect(await Promise.all(mine)).toHaveLength(10);
    expect(reads.most).toBe(2);
  });
});
