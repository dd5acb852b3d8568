import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { Worker } from 'node:worker_threads';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { listen } from '../../support/access/listener.ts';
import { transcriptReady } from '../../support/access/transcript-ready.ts';
import { createManualClock } from '../../support/access/viewers.ts';
import { clientOf, cursorNow, subscribeTo } from '../../support/ws/graphql-client.ts';
import { delivery } from '../../support/events/deliveries.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';
import { createFilledStore } from '../../support/events/open-hub.ts';
import { answer, envelope, openUpstream, pageBody, uuid } from '../../support/rest/upstream.ts';
import { dialIn, gauge, subscribed, until } from '../../support/ws/raw-socket.ts';

const EVENTS = `subscription($after: EventCursor) {
  events(after: $after) { cursor ... on ProgressNoteEvent { progressNote { isLoading } } } }`;

const cursorOf = ({ data }: { data?: { events: { cursor: string } } }): string =>
  data!.events.cursor;

/** Every cursor after `after`, in the log's own order. */
async function logged(gateway: Gateway, after: string, count: number): Promise<string[]> {
  await using results = subscribeTo(clientOf(gateway), EVENTS, { after });
  return (await results.take(count)).map(cursorOf);
}

describe('resuming from a cursor', () => {
  it.each([
    [
      'leaves out an event that could not be decided for 15 minutes, also for a client that reconnects',
      { failures: 100, minutes: 15, next: 'PROGRESS_NOTE_FINALIZED' },
    ],
    [
      'tries an event again whose first failure, after which its client left, was long ago',
      { failures: 2, minutes: 20, next: 'ASSESSMENT_COMPLETED' },
    ],
  ])('%s', async (_, { failures, minutes, next }) => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    const after = await cursorNow(gateway);
    const grants = [`clinic:${sandbox.ids.clinic(0)}`];
    const document = 'subscription($after: EventCursor) { events(after: $after) { type } }';
    const resume = () => listen(gateway, grants, document, { after });
    sandbox.completeAssessments(sandbox.ids.client(0));
    sandbox.finalize(sandbox.ids.note(0, 0));
    await sandbox.delivered();
    const route = 'GET /clinics/:clinicId/clients';
    sandbox.answerNext(route, { body: 'not a list', times: failures });
    const first = await resume();
    // The first failure is known once it is tried again.
    await until(() => sandbox.countOf(route) > 1);
    first.close();
    const now = performance.now.bind(performance);
    vi.spyOn(performance, 'now').mockImplementation(() => now() + minutes * 60_000);
    onTestFinished(() => void vi.restoreAllMocks());
    sandbox.answerNext(route, { body: 'not a list', times: 1 });
    const second = await resume();
    expect((await second.next()).data.events).toEqual({ type: next });
    second.close();
  });

  it('misses and repeats nothing while events arrive', async () => {
    await using gateway = await openGateway();
    const after = await cursorNow(gateway);
    const got: string[] = [];
    // Two clients in a row: the second resumes after the last event of the first.
    for (let round = 0; round < 2; round += 1) {
      gateway.sandbox.burst(60);
      await using results = subscribeTo(clientOf(gateway), EVENTS, { after: got.at(-1) ?? after });
      got.push(...(await results.take(40)).map(cursorOf));
      gateway.sandbox.burst(40);
    }
    await gateway.sandbox.delivered();
    expect(got).toHaveLength(80);
    expect(got).toEqual(await logged(gateway, after, 80));
    expect(new Set(got).size).toBe(80);
  });

  it('misses and repeats nothing when it joins equal subscriptions that are live', async () => {
    await using gateway = await openGateway();
    const after = await cursorNow(gateway);
    const all = [subscribeTo(clientOf(gateway), EVENTS, { after })];
    const received = [all[0]!.take(160)];
    for (let round = 1; round <= 8; round += 1) {
      gateway.sandbox.burst(20);
      // Each replays what came before, and joins while more events arrive.
      const results = subscribeTo(clientOf(gateway), EVENTS, { after });
      all.push(results);
      received.push(results.take(160));
      if (round % 4 === 0) await gateway.sandbox.delivered();
    }
    const wanted = await logged(gateway, after, 160);
    expect(new Set(wanted).size).toBe(160);
    for (const results of await Promise.all(received))
      expect(results.map(cursorOf)).toEqual(wanted);
    // All are served by one stream now.
    gateway.sandbox.burst(5);
    const more = await Promise.all(all.map((results) => results.take(5)));
    for (const results of more) expect(results.map(cursorOf)).toEqual(more[0]!.map(cursorOf));
    await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  });

  it('repeats nothing from before its cursor while equal subscriptions still wait for it', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    const { ids } = sandbox;
    const document = `subscription($after: EventCursor) {
      events(after: $after) { cursor ... on ProgressNoteEvent { progressNote { note } } } }`;
    const grants = [`clinician:${ids.clinician(0)}`];
    const finalize = async (client: number, session: number) => {
      sandbox.finalize(ids.note(client, session));
      await sandbox.delivered();
    };
    const live = await listen(gateway, grants, document);
    sandbox.set({ latencyMs: 1_000 });
    await finalize(0, 0);
    const after = await cursorNow(gateway);
    // Another clinician's: it is replayed, and not delivered.
    await finalize(14, 0);
    const resumed = await listen(gateway, grants, document, { after });
    sandbox.set({ latencyMs: 0 });
    await finalize(0, 1);
    await live.next();
    expect(cursorOf(await resumed.next())).toBe(cursorOf(await live.next()));
    live.close();
    resumed.close();
  });

  it('executes an event once for all subscribers that replay it', async () => {
    await using gateway = await openGateway();
    const after = await cursorNow(gateway);
    gateway.sandbox.burst(40);
    await gateway.sandbox.delivered();
    gateway.sandbox.resetCounts();
    const all = Array.from({ length: 10 }, () => subscribeTo(clientOf(gateway), EVENTS, { after }));
    await Promise.all(all.map((each) => each.take(40)));
    expect(gateway.sandbox.countOf('GET /progress-notes/:progressNoteId')).toBe(20);
    await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  });

  it('executes an event again once what it was made of has expired', async () => {
    const clock = createManualClock();
    await using gateway = await openGateway({ clock });
    const { sandbox } = gateway;
    const after = await cursorNow(gateway);
    sandbox.finalize(sandbox.ids.note(0, 0));
    await sandbox.delivered();
    sandbox.resetCounts();
    const calls: number[] = [];
    for (const ms of [0, 4_999, 5_001]) {
      clock.advance(ms);
      await using replay = subscribeTo(clientOf(gateway), EVENTS, { after });
      await replay.take(1);
      calls.push(sandbox.countOf('GET /progress-notes/:progressNoteId'));
    }
    expect(calls).toEqual([1, 1, 2]);
  });

  it('executes and reads nothing more for a client that left', async () => {
    const filled = await createFilledStore(
      Array.from({ length: 300 }, () => delivery('progress_note_generated')),
    );
    onTestFinished(() => rmSync(filled, { recursive: true }));
    const notes: ServerResponse[] = [];
    await using upstream = await openUpstream(({ path }, response) => {
      if (path.startsWith('/progress-notes')) notes.push(response);
      else answer(response, 200, pageBody(0, 1));
    });
    const env = { PARTNER_BASE_URL: upstream.connection.baseUrl };
    await using gateway = await openGateway({ storeDir: filled, env });
    const { data } = await gateway.query('{ events(first: 1) { pageInfo { endCursor } } }');
    using socket = await dialIn(gateway);
    const { endCursor: after } = data.events.pageInfo;
    await subscribed(gateway, socket, '1', EVENTS, { after });
    await upstream.arrived(16);
    socket.send({ id: '1', type: 'complete' });
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    const toStore = vi.spyOn(Worker.prototype, 'postMessage');
    onTestFinished(() => void vi.restoreAllMocks());
    for (const response of notes) answer(response, 404, envelope(404, 'no note'));
    // Longer than it takes to execute or read the next ones.
    for (const nth of [1, 2, 3])
      await gateway.query(`{ clinic(id: "${uuid(nth)}") { clients { totalCount } } }`);
    expect(upstream.seen).toHaveLength(16 + 3);
    expect(JSON.stringify(toStore.mock.calls)).not.toContain('eventsAfter');
  });

  it('fetches ahead of delivery, in parallel', async () => {
    await using gateway = await openGateway({ switches: { latencyMs: 20 } });
    const after = await cursorNow(gateway);
    gateway.sandbox.burst(40);
    await gateway.sandbox.delivered();
    await using results = subscribeTo(clientOf(gateway), EVENTS, { after });
    await results.take(40);
    expect(gateway.sandbox.mostAtOnce()).toBeGreaterThan(4);
  });
});

describe('an event that is replayed right after its delivery', () => {
  const READY = `subscription($after: EventCursor) { noteReady(after: $after) {
    session { sessionId } progressNote { id note isLocked } } }`;
  const EDIT = `mutation($input: UpdateProgressNoteInput!) { updateProgressNote(input: $input) { __typename } }`;
  const ROUTE = 'GET /progress-notes/:progressNoteId';

  /** What the first subscriber got, and what one gets that resumes after the change. */
  async function deliverTwice(
    gateway: Gateway,
    change: (note: { readonly id: string }, sessionId: string) => Promise<unknown>,
  ) {
    const { sandbox } = gateway;
    const after = await cursorNow(gateway);
    await using live = subscribeTo(clientOf(gateway), READY, { after });
    sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    const first = await live.next();
    await change(first.data.noteReady.progressNote, first.data.noteReady.session.sessionId);
    await using resumed = subscribeTo(clientOf(gateway), READY, { after });
    return [first, await resumed.next()] as const;
  }

  it('shows the note as it was edited meanwhile', async () => {
    await using gateway = await openGateway();
    const note = [{ text: 'edited' }];
    const [, second] = await deliverTwice(gateway, ({ id }) =>
      gateway.query(EDIT, { input: { progressNoteId: id, patch: { note } } }),
    );
    expect(second.data.noteReady.progressNote.note).toEqual([expect.objectContaining(note[0]!)]);
  });

  it('shows the note as it was edited while the event was executed for others', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    const old = { isLoading: false, note: [{ text: 'old' }] };
    const late = Promise.withResolvers<void>();
    sandbox.answerNext(ROUTE, { body: old, heldUntil: late.promise });
    const after = await cursorNow(gateway);
    await using live = subscribeTo(clientOf(gateway), READY, { after });
    const { sessionId } = sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    await expect.poll(() => sandbox.countOf(ROUTE)).toBe(1);
    const patch = { note: [{ text: 'edited' }] };
    const input = { progressNoteId: sandbox.noteIdOf(sessionId), patch };
    const { data } = await gateway.query(EDIT, { input });
    expect(data.updateProgressNote).toEqual({ __typename: 'ProgressNoteChange' });
    await using resumed = subscribeTo(clientOf(gateway), READY, { after });
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 2);
    late.resolve();
    const [first, second] = await Promise.all([live.next(), resumed.next()]);
    expect(first.data.noteReady.progressNote.note).toEqual([expect.objectContaining(old.note[0]!)]);
    expect(second.data.noteReady.progressNote.note).toEqual([
      expect.objectContaining(patch.note[0]!),
    ]);
  });

  it('is executed at most twice for clients that resume together, while other notes are regenerated', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    const sessionId = sandbox.ids.session(0, 0);
    const document = `subscription($after: EventCursor, $sessionId: ID) {
      events(after: $after, filter: { sessionId: $sessionId }) { ... on ProgressNoteEvent { progressNote { note } } } }`;
    const after = await cursorNow(gateway);
    sandbox.finalize(sandbox.ids.note(0, 0));
    await sandbox.delivered();
    sandbox.resetCounts();
    const body = { isLoading: false, note: [] };
    const held = [1, 2].map(() => Promise.withResolvers<void>());
    for (const { promise } of held) sandbox.answerNext(ROUTE, { body, heldUntil: promise });
    const resume = async (subject: string) => {
      const token = await tokenFor(['partner'], { subject });
      return subscribeTo(clientOf(gateway, token), document, { after, sessionId });
    };
    const all = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(resume));
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === all.length);
    for (const [i, { resolve }] of held.entries()) {
      await until(() => sandbox.countOf(ROUTE) === i + 1);
      const regenerated = transcriptReady({ progressNoteId: randomUUID() });
      sandbox.emit({ ...regenerated, eventType: 'progress_note_regenerated' });
      await sandbox.delivered();
      resolve();
    }
    await Promise.all(all.map((each) => each.next()));
    expect(sandbox.countOf(ROUTE)).toBe(2);
    await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  });

  it('shows the note as a later event has left it', async () => {
    await using gateway = await openGateway();
    const [first, second] = await deliverTwice(gateway, async (_note, sessionId) => {
      gateway.sandbox.finalize(gateway.sandbox.noteIdOf(sessionId)!);
      await gateway.sandbox.delivered();
    });
    expect(first.data.noteReady.progressNote.isLocked).toBeNull();
    expect(second.data.noteReady.progressNote.isLocked).toBe(true);
  });

  it('shows the events of its session that came since', async () => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    const document = `subscription($after: EventCursor) {
      noteFinalized(after: $after) { session { events { type } } } }`;
    const after = await cursorNow(gateway);
    const typesIn = async () => {
      await using results = subscribeTo(clientOf(gateway), document, { after });
      const { noteFinalized } = (await results.next()).data;
      return noteFinalized.session.events.map(({ type }: { type: string }) => type);
    };
    sandbox.finalize(sandbox.ids.note(0, 0));
    expect(await typesIn()).toEqual(['PROGRESS_NOTE_FINALIZED']);
    sandbox.emit({ ...sandbox.events.at(-1)!, eventType: 'progress_note_regenerated' });
    await sandbox.delivered();
    expect(await typesIn()).toEqual(['PROGRESS_NOTE_FINALIZED', 'PROGRESS_NOTE_REGENERATED']);
  });

  it.runIf(redisAvailable)('has a new cursor if the log has lost its end since', async () => {
    await using redis = await startRedis();
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url } });
    const { sandbox } = gateway;
    const before = await cursorNow(gateway);
    for (const n of [0, 1]) sandbox.completeAssessments(sandbox.ids.client(n));
    const [kept, lost] = await logged(gateway, before, 2);
    const [log, newest] = ['{partner-graph}:events', '{partner-graph}:newest'];
    redis.cli('XDEL', log, '2-0');
    redis.cli('XSETID', log, '1-0');
    redis.cli('SET', newest, '1');
    const READ = 'query($after: EventCursor) { events(after: $after) { nodes { cursor } } }';
    const read = (after?: string) => gateway.query(READ, { after });
    await until(async () => (await read(lost)).errors !== undefined);
    const { errors } = await read(lost);
    const [left] = await logged(gateway, errors![0]!.extensions['oldestCursor'], 1);
    expect(left).not.toBe(kept);
    expect((await read(left)).data.events.nodes).toEqual([]);
  });

  it.each([404, 400])('shows the note that was answered with %d before', async (status) => {
    await using gateway = await openGateway();
    const { sandbox } = gateway;
    sandbox.answerNext(ROUTE, { status, body: { error: { message: 'no note' } } });
    const [first, second] = await deliverTwice(gateway, async () => {
      // A 404 is cached for a second. A copy of the event invalidates it.
      if (status === 404) sandbox.emit(sandbox.events.at(-1)!);
      await sandbox.delivered();
    });
    expect(first.data.noteReady.progressNote).toBeNull();
    expect(second.data.noteReady.progressNote.note).not.toEqual([]);
    expect(second.errors).toBeUndefined();
  });
});
