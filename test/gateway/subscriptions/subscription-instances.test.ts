import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { transcriptReady } from '../../support/access/transcript-ready.ts';
import { viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { openRelay } from '../../support/faults/relay.ts';
import { type RedisServer, redisAvailable, startRedis } from '../../support/redis-server.ts';
import { clientOf, cursorNow, subscribeTo } from '../../support/ws/graphql-client.ts';

const READY = `subscription($after: EventCursor) { noteReady(after: $after) {
  cursor session { sessionId } progressNote { note } } }`;

describe.skipIf(!redisAvailable)('two instances on one Redis', () => {
  let redis: RedisServer;
  let one: Gateway;
  let two: Gateway;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    one = await openGateway({ env, switches: { rewriteMs: 60_000 } });
    two = await openGateway({ env, sandbox: one.sandbox });
  });
  afterAll(async () => {
    await two.close();
    await one.close();
    await redis[Symbol.asyncDispose]();
  });

  /** Its event arrives at the first one. */
  function generateNote(): string {
    const { sessionId } = one.sandbox.startSession(one.sandbox.ids.client(0), {
      prescriber: false,
    });
    one.sandbox.settle();
    return sessionId;
  }

  it('an event that arrives at one is delivered to a subscriber of the other', async () => {
    await using results = subscribeTo(clientOf(two), READY, { after: await cursorNow(two) });
    const sessionId = generateNote();
    expect((await results.next()).data.noteReady.session).toEqual({ sessionId });
  });

  it('a cursor of one is valid at the other', async () => {
    const after = await cursorNow(one);
    const [first, second] = [generateNote(), generateNote()];
    await using before = subscribeTo(clientOf(one), READY, { after });
    const { cursor, session } = (await before.next()).data.noteReady;
    await using results = subscribeTo(clientOf(two), READY, { after: cursor });
    const { sessionId: next } = (await results.next()).data.noteReady.session;
    expect(new Set([session.sessionId, next])).toEqual(new Set([first, second]));
  });

  it('an assessment of a client who was assigned at one is shown at the other', async () => {
    const { ids } = one.sandbox;
    const [client, clinician] = [ids.client(1_100), ids.clinician(0)];
    const viewer = await viewerWith(two, [`clinician:${clinician}`]);
    const shown = async () => {
      one.sandbox.completeAssessments(client);
      await one.sandbox.delivered();
      const log = `{ viewer { clinicians { clients(first: 1) { totalCount nodes { clientId } } } }
        events(first: 100, filter: { types: [ASSESSMENT_COMPLETED] }) { nodes { type } } }`;
      const { data } = await viewer(log);
      const [{ clients }] = data.viewer.clinicians;
      return { shown: data.events.nodes.length > 0, clients };
    };
    const before = await shown();
    expect(before.shown).toBe(false);
    await one.query(
      `mutation ($input: AssignSecondaryCliniciansInput!) {
        assignSecondaryClinicians(input: $input) { __typename } }`,
      { input: { clientId: client, clinicianIds: [clinician] } },
    );
    // Another client leaves, so that the list is as long as before.
    one.sandbox.moveClient(client, clinician);
    one.sandbox.removeClient(before.clients.nodes[0].clientId);
    const after = await shown();
    expect(after).toMatchObject({
      shown: true,
      clients: { totalCount: before.clients.totalCount },
    });
  });

  it('an assessment of a client who was assigned at one is shown at another that was cut off then', async () => {
    const { ids } = one.sandbox;
    const [client, clinician] = [ids.client(1_101), ids.clinician(5)];
    await using relay = await openRelay(redis.port);
    const env = { REDIS_URL: `redis://127.0.0.1:${relay.port}` };
    await using three = await openGateway({ env, sandbox: one.sandbox });
    const viewer = await viewerWith(three, [`clinician:${clinician}`]);
    const LOG = `{ viewer { clinicians { clients(first: 1) { nodes { clientId } } } }
      events(first: 100, filter: { types: [ASSESSMENT_COMPLETED] }) { nodes { type } } }`;
    const complete = async () => {
      one.sandbox.completeAssessments(client);
      await one.sandbox.delivered();
    };
    await complete();
    const { data } = await viewer(LOG);
    expect(data.events.nodes).toEqual([]);
    relay.redirectTo(1);
    relay.cut();
    await one.query(
      `mutation ($input: AssignSecondaryCliniciansInput!) {
        assignSecondaryClinicians(input: $input) { __typename } }`,
      { input: { clientId: client, clinicianIds: [clinician] } },
    );
    one.sandbox.moveClient(client, clinician);
    one.sandbox.removeClient(data.viewer.clinicians[0].clients.nodes[0].clientId);
    relay.redirectTo(redis.port);
    await expect.poll(async () => (await viewer(LOG)).errors, { timeout: 10_000 }).toBeUndefined();
    await complete();
    const shown = async () => (await viewer(LOG)).data.events.nodes.length;
    await expect.poll(shown, { timeout: 3_000 }).toBeGreaterThan(0);
  });

  it('the place of an event’s client is written by the instance that took the event, and by no other', async () => {
    const env = { REDIS_URL: redis.url };
    const taking = await openGateway({ env });
    const other = await openGateway({ env, sandbox: taking.sandbox });
    const clientId = taking.sandbox.ids.client(1_102);
    await using results = subscribeTo(clientOf(other), READY, { after: await cursorNow(other) });
    taking.sandbox.startSession(clientId, { prescriber: false });
    taking.sandbox.settle();
    // Both have applied it, and write what they have when they are closed.
    await results.next();
    await other.close();
    await taking.close();
    const files = globSync(join(redis.dir, 'appendonlydir', '*.aof'));
    const writes = files.map((file) => readFileSync(file, 'utf8')).join('');
    expect(writes.split(`places:${clientId}`)).toHaveLength(2);
  });

  it('a client’s new clinic is noticed at the other, although the log was lost just before its event', async () => {
    const { ids } = one.sandbox;
    const [clientId, sessionId] = [ids.client(3), ids.session(3, 0)];
    const viewer = await viewerWith(two, [`clinic:${ids.clinic(0)}`]);
    const NOTE = `query($sessionId: ID!, $clientId: ID!) {
      session(id: $sessionId, clientId: $clientId) { progressNote { note } } }`;
    const session = async () => (await viewer(NOTE, { sessionId, clientId })).data.session;
    expect(await session()).not.toBeNull();
    one.sandbox.moveClient(clientId, ids.clinician(20));
    redis.cli('FLUSHALL');
    one.sandbox.emit(transcriptReady({ sessionId, clientId }));
    await one.sandbox.delivered();
    await expect.poll(session, { timeout: 5_000 }).toBeNull();
  });

  it('a query to the other, sent after the event, never returns the old note', async () => {
    const { note } = one.sandbox.ids;
    const text = 'query($id: ID!) { progressNote(id: $id) { note } }';
    const regenerate =
      'mutation($id: ID!) { regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }';
    for (const id of [note(1, 0), note(2, 0)]) {
      await using results = subscribeTo(clientOf(two), READY, { after: await cursorNow(two) });
      await one.query(regenerate, { id });
      const old = (await two.query(text, { id })).data.progressNote.note;
      one.sandbox.settle();
      const { progressNote } = (await results.next()).data.noteReady;
      expect(progressNote.note).not.toEqual(old);
      expect((await two.query(text, { id })).data.progressNote).toEqual(progressNote);
    }
  });
});
