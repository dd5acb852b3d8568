import { describe, expect, it } from 'vitest';
import { BadCursor, EventsExpired } from '../../src/events/event-cursor.ts';
import type { PartnerEvent } from '../../src/events/partner-event.ts';
import { assessments, delivery, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-webhook-receiver.ts';
import {
  append,
  appendUnreadable,
  caughtUp,
  eventCursors,
  openTestHub,
} from '../support/events/open-hub.ts';

const positions = (events: readonly PartnerEvent[]) => events.map(({ position }) => position);

describe('the hub', () => {
  it('tells each listener what its filter takes, in the order of the log', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const { hub } = opened;
    const clinicId = uuid();
    const [all, some]: [PartnerEvent[], PartnerEvent[]] = [[], []];
    hub.subscribe({}, (event) => void all.push(event));
    hub.subscribe({ clinicId }, (event) => void some.push(event));
    await append(
      store.log,
      delivery('transcript_ready'),
      delivery('transcript_ready', { clinicId }),
    );
    await append(store.log, delivery('progress_note_generated', { clinicId }));
    await caughtUp(hub, store.log);
    expect(positions(all)).toEqual([1, 2, 3]);
    expect(positions(some)).toEqual([2, 3]);
    expect(hub.position).toBe(3);
  });

  it('tells of nothing that was in the log before it opened', async () => {
    await using store = await openTestStore();
    await append(store.log, delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    expect(opened.hub.position).toBe(1);
    expect(await opened.hub.resume(opened.hub.newestCursor())).toBe(1);
  });

  it('lets the caches know of an event before any listener does', async () => {
    await using store = await openTestStore();
    const order: string[] = [];
    const apply = async ({ position }: PartnerEvent) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`dropped ${position}`);
    };
    await using opened = await openTestHub(store.log, { apply });
    opened.hub.subscribe({}, ({ position }) => void order.push(`told ${position}`));
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(order).toEqual(['dropped 1', 'dropped 2', 'told 1', 'told 2']);
  });

  it('reaches an assessment by clinic through the place that was found for it', async () => {
    await using store = await openTestStore();
    const clinicId = uuid();
    await using opened = await openTestHub(store.log, {
      places: { of: () => Promise.resolve([{ kind: 'clinic', id: clinicId }]) },
    });
    const told: PartnerEvent[] = [];
    opened.hub.subscribe({ clinicId }, (event) => void told.push(event));
    opened.hub.subscribe({ clinicId: uuid() }, (event) => void told.push(event));
    await append(store.log, assessments(uuid(), [uuid(), uuid()]));
    await caughtUp(opened.hub, store.log);
    expect(positions(told)).toEqual([1, 2]);
  });

  it('ends a subscription at once, even from within another listener', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const told: string[] = [];
    const stops: (() => void)[] = [];
    for (const name of ['a', 'b']) {
      const stop = opened.hub.subscribe({}, () => {
        told.push(name);
        for (const each of stops) each();
      });
      stops.push(stop);
    }
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(told).toEqual(['a']);
  });
});

describe('waiting until an event is applied', () => {
  it('ends with it, and after a second at the latest', async () => {
    await using store = await openTestStore();
    const applying = Promise.withResolvers<void>();
    await using opened = await openTestHub(store.log, { apply: () => applying.promise });
    await append(store.log, delivery('transcript_ready'));
    const began = performance.now();
    await opened.hub.applied(1);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(opened.hub.position).toBe(0);
    const waiting = opened.hub.applied(1);
    applying.resolve();
    await waiting;
    expect(opened.hub.position).toBe(1);
    await opened.hub.applied(1);
  });
});

describe('what goes wrong in the hub', () => {
  it('an entry that another version wrote is skipped and counted', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const told: PartnerEvent[] = [];
    opened.hub.subscribe({}, (event) => void told.push(event));
    await appendUnreadable(store.log, 'a');
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(positions(told)).toEqual([2]);
    expect(opened.problems).toEqual(['unreadable']);
  });

  it('a step that fails is tried again before anyone hears of the event', async () => {
    await using store = await openTestStore();
    let tries = 0;
    const apply = () => {
      tries += 1;
      if (tries < 3) throw new Error('the store is down');
    };
    await using opened = await openTestHub(store.log, { apply });
    const heardAfter: number[] = [];
    opened.hub.subscribe({}, () => void heardAfter.push(tries));
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(heardAfter).toEqual([3]);
    expect(opened.problems).toEqual(['apply', 'apply']);
  });

  it('a log that breaks off is followed again from where it was, with nothing missed', async () => {
    await using store = await openTestStore();
    let broken = false;
    const breaking: typeof store.log = {
      ...store.log,
      read(after, limit) {
        if (broken) return store.log.read(after, limit);
        broken = true;
        throw new Error('broke off');
      },
    };
    await using opened = await openTestHub(breaking);
    const told: PartnerEvent[] = [];
    opened.hub.subscribe({}, (event) => void told.push(event));
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(positions(told)).toEqual([1]);
    expect(opened.problems).toEqual(['follow']);
  });

  it('a log that was replaced is reported as lost, and cursors of the old one have expired', async () => {
    await using store = await openTestStore();
    await using other = await openTestStore();
    const lost = Promise.withResolvers<void>();
    const replaced = Promise.withResolvers<void>();
    let current = store.log;
    const log: typeof store.log = {
      ...store.log,
      bounds: () => current.bounds(),
      read: (after, limit) => current.read(after, limit),
      changed: (position) => (current === store.log ? replaced.promise : current.changed(position)),
    };
    await append(store.log, delivery('transcript_ready'));
    await using opened = await openTestHub(log, {
      onProblem: (problem) => problem === 'lost' && lost.resolve(),
    });
    const cursor = opened.hub.newestCursor();
    current = other.log;
    replaced.resolve();
    await lost.promise;
    expect(opened.hub.position).toBe(0);
    expect(opened.hub.generation).toBe(1);
    await expect(opened.hub.resume(cursor)).rejects.toThrow(EventsExpired);
    expect(await opened.hub.resume(opened.hub.newestCursor())).toBe(0);
  });
});

describe('a cursor', () => {
  it('that was never made here is bad input', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const error = await opened.hub.resume('garbage').catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(BadCursor);
    expect(error).toMatchObject({
      code: 'BAD_USER_INPUT',
      issues: [expect.stringContaining('after')],
    });
  });

  it('of another log, or past the end of this one, has expired', async () => {
    await using store = await openTestStore();
    await append(store.log, delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    for (const cursor of [eventCursors.encode('another', 1), opened.hub.cursorAt(2)]) {
      const error = await opened.hub.resume(cursor).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ code: 'EVENTS_EXPIRED', oldestCursor: opened.hub.cursorAt(0) });
    }
  });

  it('older than the log has expired, and the oldest one is named', async () => {
    let now = Date.now();
    await using store = await openTestStore(60_000, () => now);
    await append(store.log, ...[1, 2, 3].map(() => delivery('transcript_ready')));
    await using opened = await openTestHub(store.log);
    now += 120_000;
    await store.log.trim();
    const error = await opened.hub.resume(opened.hub.cursorAt(2)).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(EventsExpired);
    const oldest = error instanceof EventsExpired ? error.oldestCursor : '';
    expect(await opened.hub.resume(oldest)).toBe(3);
  });
});
