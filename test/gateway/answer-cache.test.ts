import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Ask, createStillClock, viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';

const lines: string[] = [];
// Still, so that nothing is asked anew merely because a test took long.
const clock = createStillClock();
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

/** Asks until the answer is a remembered one, and proves that it is. */
async function remembered(document: string, variables: object, ask: Ask = gateway.query) {
  await ask(document, variables);
  await ask(document, variables);
  const { data, extensions } = await ask(document, variables);
  expect(extensions.upstream.calls).toBe(0);
  expect(audited().at(-1).outcome).toBe('read again');
  return data;
}

describe('an answer that is asked for again', () => {
  it('is the same, costs no call and says so', async () => {
    const id = gateway.sandbox.ids.session(0, 3);
    const first = await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const again = await gateway.query(NOTE, { id });
    expect(again.data).toEqual(first.data);
    expect(again.extensions.upstream).toMatchObject({ calls: 0, cached: 1 });
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(1);
  });

  it('is written down each time, and the second time points to the first', async () => {
    const id = gateway.sandbox.ids.session(1, 3);
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const audit = audited();
    expect(audit.map(({ outcome }) => outcome)).toEqual(['read', 'read', 'read again']);
    expect(audit[2].id).toBe(audit[1].id);
  });

  it('is not given past an event', async () => {
    const { sessionId: id } = gateway.sandbox.startSession(gateway.sandbox.ids.client(2));
    const loading = await remembered(NOTE, { id });
    expect(loading.session.progressNote.progressNoteId).toBeNull();
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const { data } = await gateway.query(NOTE, { id });
    expect(data.session.progressNote.progressNoteId).toBe(gateway.sandbox.noteIdOf(id));
  });

  it('is not given past an edit, which no event may tell of', async () => {
    const { ids, events } = gateway.sandbox;
    const [id, note] = [ids.session(5, 0), ids.note(5, 0)];
    await remembered(NOTE, { id });
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

  it('is not given past the time for which the first of its answers holds', async () => {
    const document = `query Both($id: ID!) {
      session(id: $id) { progressNote { note } transcript { items { speaker } } } }`;
    const id = gateway.sandbox.ids.session(6, 0);
    await remembered(document, { id });
    clock.turn(4_999);
    expect((await gateway.query(document, { id })).extensions.upstream.calls).toBe(0);
    gateway.sandbox.resetCounts();
    clock.turn(1);
    expect((await gateway.query(document, { id })).extensions.upstream.calls).toBe(1);
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(1);
  });

  it('is not given to a viewer of another reach', async () => {
    const id = gateway.sandbox.ids.session(3, 3);
    await gateway.query(NOTE, { id });
    await gateway.query(NOTE, { id });
    const authorization = `Bearer ${await tokenFor([`client:${gateway.sandbox.ids.client(9)}`])}`;
    const { data } = await gateway.query(NOTE, { id }, { authorization });
    expect(data.session).toBeNull();
  });

  it('is not given to another viewer of the same reach, who is written down as such', async () => {
    const id = gateway.sandbox.ids.session(7, 3);
    const as = (subject: string) => viewerWith(gateway, ['partner'], subject);
    await remembered(NOTE, { id }, await as('ann'));
    lines.length = 0;
    await remembered(NOTE, { id }, await as('bob'));
    expect(audited().map(({ subject }) => subject)).toEqual(['bob', 'bob', 'bob']);
    expect(audited().map(({ outcome }) => outcome)).toEqual(['read', 'read', 'read again']);
    expect(audited()[0].records).toContain(`ProgressNote:${gateway.sandbox.ids.note(7, 3)}`);
  });

  it('is not given to one whose name and question together read the same', async () => {
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

  it('is made anew where it tells of more than the Partner API does', async () => {
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
