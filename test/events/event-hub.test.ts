import { describe, expect, it, vi } from 'vitest';
import { EventsExpired } from '../../src/events/event-hub.ts';
import type { PartnerEvent } from '../../src/events/partner-event.ts';
import { delivery, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-webhook-receiver.ts';
import {
  append,
  appendUnreadable,
  caughtUp,
  eventCursors,
  openTestHub,
  turn,
} from '../support/events/open-hub.ts';
import { skipPauses } from '../support/skip-pauses.ts';

const positions = (events: readonly PartnerEvent[]) => events.map(({ position }) => position);

describe('the hub', () => {
  it('delivers to each listener the events that match its filter, in the order of the log', async () => {
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

  it('delivers no event that was in the log before it opened', async () => {
    await using store = await openTestStore();
    await append(store.log, delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    expect(opened.hub.position).toBe(1);
    expect(await opened.hub.resume(opened.hub.cursorAt(opened.hub.position))).toBe(1);
  });

  it('applies an event to the caches before any listener gets it', async () => {
    await using store = await openTestStore();
    const order: string[] = [];
    const apply = ({ position }: PartnerEvent) => void order.push(`dropped ${position}`);
    await using opened = await openTestHub(store.log, { apply });
    opened.hub.subscribe({}, ({ position }) => void order.push(`delivered ${position}`));
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(order).toEqual(['dropped 1', 'dropped 2', 'delivered 1', 'delivered 2']);
  });

  it('reads the log once for events that come one at a time', async () => {
    await using store = await openTestStore();
    let reads = 0;
    const read: typeof store.log.read = (...args) => {
      reads += 1;
      return store.log.read(...args);
    };
    await using opened = await openTestHub({ ...store.log, read });
    const before = reads;
    for (let event = 0; event < 3; event += 1) {
      await append(store.log, delivery('transcript_ready'));
      await caughtUp(opened.hub, store.log);
    }
    expect(reads - before).toBe(3);
  });

  it('ends a subscription at once, even from within another listener', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const received: string[] = [];
    const stops: (() => void)[] = [];
    for (const name of ['a', 'b']) {
      const stop = opened.hub.subscribe({}, () => {
        received.push(name);
        for (const each of stops) each();
      });
      stops.push(stop);
    }
    await append(store.log, delivery('transcript_ready'), delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(received).toEqual(['a']);
  });
});

describe('waiting until an event is applied', () => {
  it('ends with it, and after a second at the latest', async () => {
    await using store = await openTestStore();
    const reading = Promise.withResolvers<void>();
    const slow: typeof store.log = {
      ...store.log,
      async read(...args) {
        const page = await store.log.read(...args);
        if (page.events.length > 0) await reading.promise;
        return page;
      },
    };
    await using opened = await openTestHub(slow);
    await append(store.log, delivery('transcript_ready'));
    const began = performance.now();
    expect(await opened.hub.whenApplied(1)).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(900);
    expect(opened.hub.position).toBe(0);
    const waiting = opened.hub.whenApplied(1);
    reading.resolve();
    expect(await waiting).toBe(true);
    expect(opened.hub.position).toBe(1);
    expect(await opened.hub.whenApplied(1)).toBe(true);
  });
});

describe('the hub, when something fails,', () => {
  it('skips and counts an entry that another version wrote', async () => {
    await using store = await openTestStore();
    await using opened = await openTestHub(store.log);
    const received: PartnerEvent[] = [];
    opened.hub.subscribe({}, (event) => void received.push(event));
    await appendUnreadable(store.log, 'a');
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(positions(received)).toEqual([2]);
    expect(opened.problems).toEqual(['unreadable']);
  });

  it('retries a failed step before any listener gets the event', async () => {
    await using store = await openTestStore();
    let tries = 0;
    const apply = () => {
      tries += 1;
      if (tries < 3) throw new Error('the store is down');
    };
    await using opened = await openTestHub(store.log, { apply });
    const deliveredAfter: number[] = [];
    opened.hub.subscribe({}, () => void deliveredAfter.push(tries));
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(deliveredAfter).toEqual([3]);
    expect(opened.problems).toEqual(['apply', 'apply']);
    expect(opened.aside).toEqual([]);
  });

  it('is closed no sooner than an event that it can’t apply is in quarantine', async () => {
    await using store = await openTestStore();
    const [adding, added] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const order: string[] = [];
    skipPauses();
    const { hub } = await openTestHub(store.log, {
      apply() {
        throw new TypeError('no such property');
      },
      async addToQuarantine() {
        adding.resolve();
        await added.promise;
        order.push('in quarantine');
      },
    });
    await append(store.log, delivery('transcript_ready'));
    await adding.promise;
    const closed = hub[Symbol.asyncDispose]().then(() => order.push('closed'));
    await turn();
    added.resolve();
    await closed;
    expect(order).toEqual(['in quarantine', 'closed']);
  });

  it('resumes from the last position after failed reads of the log, which it reports once, with nothing missed', async () => {
    await using store = await openTestStore();
    let failures = 0;
    const breaking: typeof store.log = {
      ...store.log,
      read(after, limit) {
        if (failures === 3) return store.log.read(after, limit);
        failures += 1;
        throw new Error('broke off');
      },
    };
    await using opened = await openTestHub(breaking);
    const received: PartnerEvent[] = [];
    opened.hub.subscribe({}, (event) => void received.push(event));
    await append(store.log, delivery('transcript_ready'));
    await caughtUp(opened.hub, store.log);
    expect(positions(received)).toEqual([1]);
    expect([failures, opened.problems]).toEqual([3, ['follow']]);
  });
});

describe('the client of a session', () => {
  it('is that of an event which comes while an older one is read', async () => {
    await using store = await openTestStore();
    const [sessionId, clientId] = [uuid(), uuid()];
    await append(store.log, delivery('transcript_ready', { sessionId }));
    const [reading, isApplied] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow: typeof store.log = {
      ...store.log,
      async ofSubject(...args) {
        const found = await store.log.ofSubject(...args);
        reading.resolve();
        await isApplied.promise;
        return found;
      },
    };
    await using opened = await openTestHub(slow);
    const read = opened.hub.clientIdFromLog(sessionId);
    await reading.promise;
    await append(store.log, delivery('progress_note_generated', { sessionId, clientId }));
    await caughtUp(opened.hub, store.log);
    isApplied.resolve();
    expect(await read).toBe(clientId);
    expect(await opened.hub.clientIdFromLog(sessionId)).toBe(clientId);
  });

  it.each([[true], [false]])(
    'is that of the last event by its time, not of the one that came last (known before: %s)',
    async (isKnown) => {
      await using store = await openTestStore();
      await using opened = await openTestHub(store.log);
      const [sessionId, clientId] = [uuid(), uuid()];
      const earlier = delivery(
        'transcript_ready',
        { sessionId },
        { timeStamp: '2026-03-01T10:00:00.000Z' },
      );
      const last = { sessionId, clientId };
      await append(
        store.log,
        delivery('progress_note_generated', last, { timeStamp: '2026-03-01T10:09:00.000Z' }),
      );
      await caughtUp(opened.hub, store.log);
      if (isKnown) expect(await opened.hub.clientIdFromLog(sessionId)).toBe(clientId);
      await append(store.log, earlier);
      await caughtUp(opened.hub, store.log);
      expect(await opened.hub.clientIdFromLog(sessionId)).toBe(clientId);
      const next = { sessionId, clientId: uuid() };
      await append(
        store.log,
        delivery('mdm_elements_identified', next, { timeStamp: '2026-03-01T10:10:00.000Z' }),
      );
      await caughtUp(opened.hub, store.log);
      expect(await opened.hub.clientIdFromLog(sessionId)).toBe(next.clientId);
    },
  );

  it('is read once for all who ask at the same time', async () => {
    await using store = await openTestStore();
    const ofSubject = vi.fn(store.log.ofSubject);
    await using opened = await openTestHub({ ...store.log, ofSubject });
    const [sessionId, clientId] = [uuid(), uuid()];
    await append(store.log, delivery('transcript_ready', { sessionId, clientId }));
    await caughtUp(opened.hub, store.log);
    const asked = Array.from({ length: 50 }, async () => opened.hub.clientIdFromLog(sessionId));
    expect(new Set(await Promise.all(asked))).toEqual(new Set([clientId]));
    expect(ofSubject).toHaveBeenCalledOnce();
  });

  it('is null while the log can’t be read', async () => {
    await using store = await openTestStore();
    const ofSubject = () => Promise.reject(new Error('the store is down'));
    await using opened = await openTestHub({ ...store.log, ofSubject });
    expect(await opened.hub.clientIdFromLog(uuid())).toBeNull();
  });

  it('is forgotten when the log was lost', async () => {
    await using former = await openTestStore();
    await using other = await openTestStore();
    let { log } = former;
    const replaced: typeof log = {
      ...log,
      read: (...args) => log.read(...args),
      ofSubject: (...args) => log.ofSubject(...args),
      changed: turn,
    };
    await using opened = await openTestHub(replaced);
    const sessionId = uuid();
    await append(log, delivery('transcript_ready', { sessionId }));
    await caughtUp(opened.hub, log);
    expect(await opened.hub.clientIdFromLog(sessionId)).toBeDefined();
    ({ log } = other);
    while (opened.problems.length === 0) await turn();
    expect(opened.problems).toEqual(['lost']);
    expect(await opened.hub.clientIdFromLog(sessionId)).toBeUndefined();
  });
});

describe('a cursor', () => {
  it('opens to its position with the epochs that stores generate', () => {
    for (const position of [0, 1, 40_000, Number.MAX_SAFE_INTEGER]) {
      const at = { epoch: crypto.randomUUID(), position, receivedAt: Date.now() };
      expect(eventCursors.open(eventCursors.seal(at))).toEqual(at);
    }
  });

  it('of another log, or past the end of this one, has expired', async () => {
    await using store = await openTestStore();
    await append(store.log, delivery('transcript_ready'));
    await using opened = await openTestHub(store.log);
    for (const cursor of [
      eventCursors.seal({ epoch: 'another', position: 1, receivedAt: 0 }),
      opened.hub.cursorAt(2),
    ]) {
      const error = await opened.hub.resume(cursor).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ code: 'EVENTS_EXPIRED', oldestCursor: opened.hub.cursorAt(0) });
    }
  });

  it('of an event in whose place there is another has expired: the log lost its end before a restart', async () => {
    await using store = await openTestStore();
    await append(store.log, ...[1, 2, 3].map(() => delivery('transcript_ready')));
    await using opened = await openTestHub(store.log);
    const { events } = await opened.hub.scan(0);
    for (const event of events)
      expect(await opened.hub.resume(opened.hub.cursorAt(event.position, event.receivedAt))).toBe(
        event.position,
      );
    const error = await opened.hub
      .resume(opened.hub.cursorAt(2, events[1]!.receivedAt - 1_000))
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'EVENTS_EXPIRED', oldestCursor: opened.hub.cursorAt(0) });
  });

  it('older than the log has expired, and the error names the oldest one', async () => {
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
