import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Ask, createManualClock, viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';

const lines: string[] = [];
// A fixed clock, so that nothing expires merely because a test took long.
const clock = createManualClock();
let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({
    clock,
    switches: { transcriptMs: 3_600_000, noteMs: 3_600_000 },
    onLog: (line) => lines.push(line),
  });
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.sandbox.resetCounts();
  lines.length = 0;
});

const NOTE = 'query Note($id: ID!) { session(id: $id) { progressNote { progressNoteId note } } }';

const UPDATE = `mutation($id: ID!, $patch: JSON!) {
  updateProgressNote(input: { progressNoteId: $id, patch: $patch }) { is: __typename } }`;

const audited = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');

/** Sends the query until its answer comes from the cache, and checks that it does. */
async function cached(document: string, variables: object, ask: Ask = gateway.query) {
  await ask(document, variables);
  await ask(document, variables);
  const { data, extensions } = await ask(document, variables);
  expect(extensions.upstream.calls).toBe(0);
  expect(audited().at(-1).outcome).toBe('read again');
  return data;
}

describe('a repeated query', () => {
  it('gets the same answer, makes no call and reports that', async () => {
    const id = gateway.sandbox.ids.session(0, 3);
    const first = await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const again = await gateway.query(NOTE, { id });
    expect(again.data).toEqual(first.data);
    expect(again.extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(1);
  });

  it('is audited each time with its records, and the last line refers to the one before', async () => {
    const id = gateway.sandbox.ids.session(1, 3);
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const audit = audited();
    expect(audit.map(({ outcome }) => outcome)).toEqual(['read', 'read', 'read again']);
    const { subject, operation, id: operationId, records } = audit[1];
    expect(audit[2]).toMatchObject({ subject, operation, id: operationId, records });
    expect(records).toHaveLength(2);
  });

  it('is not answered from the cache after an event', async () => {
    const { sessionId: id } = gateway.sandbox.startSession(gateway.sandbox.ids.client(2));
    const loading = await cached(NOTE, { id });
    expect(loading.session.progressNote.progressNoteId).toBeNull();
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const { data } = await gateway.query(NOTE, { id });
    expect(data.session.progressNote.progressNoteId).toBe(gateway.sandbox.noteIdOf(id));
  });

  it('is not answered from the cache after an edit, which may have no event', async () => {
    const { ids, events } = gateway.sandbox;
    const [id, note] = [ids.session(5, 0), ids.note(5, 0)];
    await cached(NOTE, { id });
    const before = events.length;
    const { data: edited } = await gateway.query(UPDATE, {
      id: note,
      patch: { note: ['By hand.'] },
    });
    expect(edited.updateProgressNote.is).toBe('ProgressNoteChange');
    const { data } = await gateway.query(NOTE, { id });
    expect(data.session.progressNote.note).toEqual(['By hand.']);
    expect(gateway.sandbox.events).toHaveLength(before);
  });

  it('is not answered from the cache after the first of its records has expired', async () => {
    const document = `query Both($id: ID!) {
      session(id: $id) { progressNote { note } transcript { items { speaker } } } }`;
    const id = gateway.sandbox.ids.session(6, 0);
    await cached(document, { id });
    clock.advance(4_999);
    expect((await gateway.query(document, { id })).extensions.upstream.calls).toBe(0);
    gateway.sandbox.resetCounts();
    clock.advance(2);
    expect((await gateway.query(document, { id })).extensions.upstream.calls).toBe(1);
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(1);
  });

  it('is not answered from the cache of a viewer with other grants', async () => {
    const id = gateway.sandbox.ids.session(3, 3);
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const authorization = `Bearer ${await tokenFor([`client:${gateway.sandbox.ids.client(9)}`])}`;
    const { data } = await gateway.query(NOTE, { id }, { authorization });
    expect(data.session).toBeNull();
  });

  it('is not answered from the cache of another viewer with the same grants, and is audited for each', async () => {
    const id = gateway.sandbox.ids.session(7, 3);
    const as = (subject: string) => viewerWith(gateway, ['partner'], subject);
    await cached(NOTE, { id }, await as('ann'));
    lines.length = 0;
    await cached(NOTE, { id }, await as('bob'));
    expect(audited().map(({ subject }) => subject)).toEqual(['bob', 'bob', 'bob']);
    expect(audited().map(({ outcome }) => outcome)).toEqual(['read', 'read', 'read again']);
    expect(audited()[0].records).toContain(`ProgressNote:${gateway.sandbox.ids.note(7, 3)}`);
  });

  it('is not answered from the cache of a viewer whose subject and query concatenate to the same text', async () => {
    const body = JSON.stringify({
      query: NOTE,
      variables: { id: gateway.sandbox.ids.session(8, 3) },
    });
    const ask = async (subject: string, text: string) => {
      const authorization = `Bearer ${await tokenFor(['partner'], { subject })}`;
      return post(gateway.url, text, { authorization });
    };
    await ask('ann ', body);
    await ask('ann ', body);
    await ask('ann', ` ${body}`);
    expect(audited().map(({ subject }) => subject)).toEqual(['ann ', 'ann ', 'ann']);
  });

  it('is executed again where it reads more than the Partner API', async () => {
    const document = '{ eventCursor organizations { totalCount } }';
    const first = await gateway.query(document);
    gateway.sandbox.startSession(gateway.sandbox.ids.client(4));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    await expect
      .poll(async () => (await gateway.query(document)).data.eventCursor)
      .not.toBe(first.data.eventCursor);
  });
});
