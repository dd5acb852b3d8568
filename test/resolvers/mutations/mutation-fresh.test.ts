import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId } from '../../support/global-id.ts';
import { change, changes } from '../../support/mutation/edits.ts';
import { type RedisServer, redisAvailable, startRedis } from '../../support/redis-server.ts';

const byNote = async (gateway: Gateway, id: string) => {
  const document = 'query($id: ID!) { progressNote(id: $id) { note } }';
  return (await gateway.query(document, { id })).data.progressNote.note as unknown[];
};

const bySession = async (gateway: Gateway, id: string) => {
  const document = 'query($id: ID!) { session(id: $id) { progressNote { note } } }';
  return (await gateway.query(document, { id })).data.session.progressNote.note as unknown[];
};

const patchOf = (text: string) => ({ patch: { note: [text] } });

describe('a changed note', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await openGateway({ switches: { rewriteMs: 60_000 } });
  });
  afterAll(() => gateway.close());

  it('bypasses the cache, and the next query returns it', async () => {
    const { note, session } = gateway.sandbox.ids;
    await bySession(gateway, session(0, 0));
    await byNote(gateway, note(0, 0));
    const { result } = await change(gateway, 'update', note(0, 0), patchOf('new'));
    expect(result.progressNote.note).toEqual(['new']);
    expect(await byNote(gateway, note(0, 0))).toEqual(['new']);
    expect(await bySession(gateway, session(0, 0))).toEqual(['new']);
  });

  it('is in the next list of its client’s sessions, whose page is still cached', async () => {
    const { ids, countOf } = gateway.sandbox;
    const list = `query($id: ID!) { client(id: $id) { sessions { nodes { progressNote { note } } } } }`;
    const notes = async () => {
      const { data } = await gateway.query(list, { id: ids.client(2) });
      return data.client.sessions.nodes.map(
        (row: { progressNote?: { note: unknown } }) => row.progressNote?.note,
      );
    };
    await notes();
    await notes();
    const pages = countOf('GET /clients/:id/sessions');
    await change(gateway, 'update', ids.note(2, 0), patchOf('newer'));
    expect(await notes()).toContainEqual(['newer']);
    expect(countOf('GET /clients/:id/sessions')).toBe(pages);
  });

  it('is read again for each of several changes in one operation, also as a linked record', async () => {
    const id = gateway.sandbox.ids.note(0, 1);
    const one = (alias: string, text: string) => `${alias}: updateProgressNote(input: {
      progressNoteId: "${id}", patch: { note: ["${text}"] } }) {
      ... on ProgressNoteChange { progressNote { note session { progressNote { note } } } } }`;
    const { data } = await gateway.query(`mutation { ${one('a', 'first')} ${one('b', 'second')} }`);
    const read = (text: string) => ({ note: [text], session: { progressNote: { note: [text] } } });
    expect(data.a.progressNote).toEqual(read('first'));
    expect(data.b.progressNote).toEqual(read('second'));
  });

  it('is the one that its session has now, not the one that the operation has read before', async () => {
    const { ids, answerNext } = gateway.sandbox;
    const id = artifactId(gateway, 'ProgressNote', ids.session(3, 0));
    const body = { progressNoteId: randomUUID(), isLoading: false, note: ['renamed since'] };
    // For the first change: the id to send to, and the note that it returns.
    answerNext('GET /sessions/:id/progress-note', { body, times: 2 });
    answerNext(changes.update.route, { body: {} });
    const one = (alias: string) => `${alias}: updateProgressNote(input: { progressNoteId: "${id}",
      patch: {} }) { ... on ProgressNoteChange { progressNote { progressNoteId } } }`;
    const { data } = await gateway.query(`mutation { ${one('a')} ${one('b')} }`);
    expect(data.a.progressNote).toEqual({ progressNoteId: body.progressNoteId });
    expect(data.b.progressNote).toEqual({ progressNoteId: ids.note(3, 0) });
  });

  it('is read once, however often it is selected', async () => {
    const { countOf, ids } = gateway.sandbox;
    const before = countOf('GET /progress-notes/:id');
    await gateway.query(`mutation { updateProgressNote(input: {
      progressNoteId: "${ids.note(0, 1)}", patch: {} }) {
      ... on ProgressNoteChange { a: progressNote { note } b: progressNote { isLoading } } } }`);
    expect(countOf('GET /progress-notes/:id')).toBe(before + 1);
  });

  it('is returned although an outcome is unknown', async () => {
    const id = gateway.sandbox.ids.note(0, 2);
    await byNote(gateway, id);
    const unclear = { status: 500, takesEffect: true, times: 2 };
    gateway.sandbox.answerNext(changes.update.route, unclear);
    await change(gateway, 'update', id, patchOf('perhaps'));
    expect(await byNote(gateway, id)).toEqual(['perhaps']);
  });

  it('is returned to queries sent during and after an older read in flight', async () => {
    const id = gateway.sandbox.ids.note(1, 0);
    const answer = Promise.withResolvers<void>();
    const body = { progressNoteId: id, isLoading: false, note: ['old'] };
    const held = { heldUntil: answer.promise, body };
    gateway.sandbox.answerNext('GET /progress-notes/:id', held);
    const before = gateway.sandbox.countOf('GET /progress-notes/:id');
    const early = byNote(gateway, id);
    await expect.poll(() => gateway.sandbox.countOf('GET /progress-notes/:id')).toBe(before + 1);
    const { result } = await change(gateway, 'update', id, patchOf('new'));
    expect(result.progressNote.note).toEqual(['new']);
    expect(await byNote(gateway, id)).toEqual(['new']);
    answer.resolve();
    expect(await early).toEqual(['old']);
    expect(await byNote(gateway, id)).toEqual(['new']);
  });

  it('is returned to queries sent during and after an older read by its session, which the change does not name', async () => {
    const { note, session } = gateway.sandbox.ids;
    const route = 'GET /sessions/:id/progress-note';
    const old = { progressNoteId: note(1, 1), isLoading: false, note: ['old'] };
    const answer = Promise.withResolvers<void>();
    gateway.sandbox.answerNext(route, { heldUntil: answer.promise, body: old });
    const before = gateway.sandbox.countOf(route);
    const early = bySession(gateway, session(1, 1));
    await expect.poll(() => gateway.sandbox.countOf(route)).toBe(before + 1);
    await change(gateway, 'update', note(1, 1), patchOf('new'));
    expect(await bySession(gateway, session(1, 1))).toEqual(['new']);
    answer.resolve();
    expect(await early).toEqual(['old']);
    expect(await bySession(gateway, session(1, 1))).toEqual(['new']);
  });

  it('is returned although its session’s cached answer does not say which note it is', async () => {
    const { note, session } = gateway.sandbox.ids;
    const old = { isLoading: false, note: ['old'] };
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', { body: old });
    expect(await bySession(gateway, session(1, 2))).toEqual(['old']);
    await change(gateway, 'update', note(1, 2), patchOf('new'));
    expect(await bySession(gateway, session(1, 2))).toEqual(['new']);
  });

  it('is reported as changed although the read of it fails: the note is null with an error', async () => {
    gateway.sandbox.answerNext('GET /progress-notes/:id', { status: 404, times: 1 });
    const { note } = gateway.sandbox.ids;
    const { result } = await change(gateway, 'update', note(2, 0), patchOf('new'));
    expect(result).toMatchObject({ type: 'ProgressNoteChange', progressNote: null });
  });

  it('appears in its clinician’s list of edits at once', async () => {
    const { ids } = gateway.sandbox;
    const walk = `query($id: ID!) { clinician(id: $id) { magicEdits(first: 1) { totalCount }
      clients(first: 1) { nodes { sessions(first: 1) { nodes { progressNote { progressNoteId } } } } } } }`;
    const read = async () => (await gateway.query(walk, { id: ids.clinician(0) })).data.clinician;
    const { magicEdits, clients } = await read();
    const [session] = clients.nodes[0].sessions.nodes;
    await change(gateway, 'magicEdit', session.progressNote.progressNoteId);
    expect((await read()).magicEdits.totalCount).toBe(magicEdits.totalCount + 1);
  });
});

describe.skipIf(!redisAvailable)('a note that is changed through one of two instances', () => {
  let redis: RedisServer;
  let one: Gateway;
  let two: Gateway;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    one = await openGateway({ env });
    two = await openGateway({ env, sandbox: one.sandbox });
  });
  afterAll(async () => {
    await two.close();
    await one.close();
    await redis[Symbol.asyncDispose]();
  });

  it('is returned by the other one, by note and by session', async () => {
    const { note, session } = one.sandbox.ids;
    await Promise.all([byNote(two, note(0, 0)), bySession(two, session(0, 0))]);
    await change(one, 'update', note(0, 0), patchOf('new'));
    expect(await byNote(two, note(0, 0))).toEqual(['new']);
    expect(await bySession(two, session(0, 0))).toEqual(['new']);
  });

  it('is returned by its session although the instance that changed it has not read it', async () => {
    const { note, session } = one.sandbox.ids;
    await bySession(two, session(0, 1));
    await change(one, 'update', note(0, 1), patchOf('new'));
    expect(await bySession(two, session(0, 1))).toEqual(['new']);
  });

  it('is returned by the other one during and after an older read in flight there', async () => {
    const id = one.sandbox.ids.note(0, 2);
    const answer = Promise.withResolvers<void>();
    const body = { progressNoteId: id, isLoading: false, note: ['old'] };
    const held = { heldUntil: answer.promise, body };
    one.sandbox.answerNext('GET /progress-notes/:id', held);
    one.sandbox.resetCounts();
    const early = byNote(two, id);
    await expect.poll(() => one.sandbox.countOf('GET /progress-notes/:id')).toBe(1);
    await change(one, 'update', id, patchOf('new'));
    expect(await byNote(two, id)).toEqual(['new']);
    answer.resolve();
    expect(await early).toEqual(['old']);
    expect(await byNote(two, id)).toEqual(['new']);
  });

  it('is returned by the other one during an older read there by its session, which the change does not name', async () => {
    const { note, session } = one.sandbox.ids;
    const route = 'GET /sessions/:id/progress-note';
    const old = { progressNoteId: note(1, 0), isLoading: false, note: ['old'] };
    const answer = Promise.withResolvers<void>();
    one.sandbox.answerNext(route, { heldUntil: answer.promise, body: old });
    one.sandbox.resetCounts();
    const early = bySession(two, session(1, 0));
    await expect.poll(() => one.sandbox.countOf(route)).toBe(1);
    await change(one, 'update', note(1, 0), patchOf('new'));
    expect(await bySession(two, session(1, 0))).toEqual(['new']);
    answer.resolve();
    expect(await early).toEqual(['old']);
  });
});
