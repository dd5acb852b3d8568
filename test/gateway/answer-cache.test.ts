import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Ask, createManualClock, viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway, post, tokenFor } from '../support/gateway.ts';
import { transcriptReady } from '../support/access/transcript-ready.ts';
import { artifactId, sessionId } from '../support/global-id.ts';

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

const BY_ID = 'query Note($id: ID!) { progressNote(id: $id) { progressNoteId note } }';
/** Names its session and client, so that access to it can be checked. */
const noteId = (client: number) => {
  const { ids } = gateway.sandbox;
  return artifactId(gateway, 'ProgressNote', ids.session(client, 1), ids.client(client));
};

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

  it('is not answered from the cache after an event that names another client of a session in it', async () => {
    const { ids } = gateway.sandbox;
    const [moved, other] = [ids.session(8, 0), ids.session(8, 1)];
    const document = `query Two($moved: ID!, $other: ID!) {
      moved: node(id: $moved) { ... on Session { sessionId } }
      other: node(id: $other) { ... on Session { transcript { items { speaker } } } } }`;
    const variables = {
      moved: sessionId(gateway, moved, ids.client(8)),
      other: sessionId(gateway, other, ids.client(8)),
    };
    const ask = await viewerWith(gateway, [`client:${ids.client(8)}`]);
    expect((await cached(document, variables, ask)).moved.sessionId).toBe(moved);
    gateway.sandbox.emit(transcriptReady({ sessionId: moved, clientId: ids.client(9) }));
    await gateway.sandbox.delivered();
    const { data } = await ask(document, variables);
    expect(data.moved).toBeNull();
    expect(data.other.transcript).not.toBeNull();
  });

  it('is not answered from the cache after an event that names the clinician who did not have the client', async () => {
    const { ids } = gateway.sandbox;
    const variables = { id: ids.client(20), clinician: ids.clinician(0) };
    const document = `query($id: ID!, $clinician: ID) {
      client(id: $id, clinicianId: $clinician) { clinic { clinicId } } }`;
    for (let times = 0; times < 3; times += 1)
      expect((await gateway.query(document, variables)).data.client).toEqual({ clinic: null });
    clock.advance(1);
    gateway.sandbox.moveClient(ids.client(20), ids.clinician(0));
    gateway.sandbox.startSession(ids.client(20));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const { data } = await gateway.query(document, variables);
    expect(data.client).toEqual({ clinic: { clinicId: ids.clinic(0) } });
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

  it('is answered from the cache if it needed an access check', async () => {
    const { ids } = gateway.sandbox;
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
    const { progressNote } = await cached(BY_ID, { id: noteId(0) }, ask);
    expect(progressNote.progressNoteId).toBe(ids.note(0, 1));
  });

  it('is executed and audited again if a record was denied, or is in no list', async () => {
    const { ids } = gateway.sandbox;
    const denials = () => audited().filter(({ outcome }) => outcome === 'denied');
    const ask = await viewerWith(gateway, [`client:${ids.client(5)}`]);
    const other = `query($id: ID!, $own: ID!) {
      progressNote(id: $id) { note } client(id: $own) { sessions { totalCount } } }`;
    for (const _ of [1, 2, 3])
      expect(
        (await ask(other, { id: noteId(2), own: ids.client(5) })).data.progressNote,
      ).toBeNull();
    expect(denials()).toHaveLength(3);
    const unknown = `query($id: ID!, $client: ID!) { session(id: $id, clientId: $client) { fileUrl } }`;
    const variables = { id: randomUUID(), client: ids.client(0) };
    for (const _ of [1, 2, 3])
      expect((await gateway.query(unknown, variables)).data.session).toBeNull();
    expect(denials()).toHaveLength(6);
  });

  it('is executed again for an event stream: its copy of a large answer has to count as unread', async () => {
    const variables = { id: gateway.sandbox.ids.session(0, 4) };
    await cached(NOTE, variables);
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${await tokenFor(['partner'])}`,
      },
      body: JSON.stringify({ query: NOTE, variables }),
    });
    expect(await response.text()).toContain('event: next');
    expect(audited().at(-1).outcome).toBe('read');
  });

  it('is executed again where it reads more than the Partner API', async () => {
    const document = '{ eventCursor organizations { totalCount } }';
    const ask = async () => (await gateway.query(document)).data.eventCursor;
    const before = [await ask(), await ask(), await ask()];
    gateway.sandbox.startSession(gateway.sandbox.ids.client(4));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    expect(before).not.toContain(await ask());
  });
});
