import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type Listener, listen } from '../../support/access/listener.ts';
import { transcriptReady } from '../../support/access/transcript-ready.ts';
import { MINUTE_PAST, createAdvancingClock, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId, plainId, sessionId } from '../../support/global-id.ts';
import { until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let clock: ReturnType<typeof createAdvancingClock>;
beforeEach(async () => {
  clock = createAdvancingClock();
  gateway = await openGateway({ clock });
  ({ ids } = gateway.sandbox);
});
afterEach(() => gateway.close());

const BY_ID = `query($client: ID!, $session: ID!, $note: ID!, $nodes: [ID!]!) {
  client(id: $client) { firstName sessions { totalCount } }
  session(id: $session) { raw client { id } progressNote { note } transcript { id } events { cursor } }
  progressNote(id: $note) { note }
  nodes(ids: $nodes) { ... on Client { lastName } ... on ProgressNote { note } ... on Transcript { items { speaker } } } }`;

const namesOf = (nth: number) => {
  const [client, session] = [ids.client(nth), ids.session(nth, 0)];
  return {
    client,
    session: sessionId(gateway, session, client),
    note: artifactId(gateway, 'ProgressNote', session, client),
    nodes: [
      plainId('Client', client),
      artifactId(gateway, 'ProgressNote', session, client),
      artifactId(gateway, 'Transcript', session, client),
    ],
  };
};

const SHOWN = {
  client: { firstName: expect.any(String) },
  session: { progressNote: { note: expect.any(Array) }, transcript: { id: expect.any(String) } },
  progressNote: { note: expect.any(Array) },
  nodes: [{ lastName: expect.any(String) }, { note: expect.any(Array) }, expect.any(Object)],
};
const HIDDEN = { client: null, session: null, progressNote: null, nodes: [null, null, null] };

const listOf = (first: number) =>
  `{ viewer { clinicians { clients(first: ${first}) { nodes { id } } } } }`;
const LIST = listOf(100);
/** Cached pages of a list expire, but not the proofs that they gave. */
const PAGES_EXPIRE = 6_000;

/** An event of the first client's session that names the second client. */
async function nameAnotherClient(): Promise<void> {
  gateway.sandbox.emit(transcriptReady({ sessionId: ids.session(0, 0), clientId: ids.client(1) }));
  await gateway.sandbox.delivered();
}

it('a session, with its note, belongs to the client that its newest event names, whatever its id says', async () => {
  const [session, client] = [ids.session(0, 0), ids.client(1)];
  const body = { isLoading: false, note: [], clientId: client };
  gateway.sandbox.answerNext('GET /sessions/:id/progress-note', { times: 2, body });
  await nameAnotherClient();
  const shown = {
    id: sessionId(gateway, session, client),
    client: { clientId: client },
    progressNote: { id: artifactId(gateway, 'ProgressNote', session, client) },
  };
  const SESSION =
    'query($session: ID!) { session(id: $session) { id client { clientId } progressNote { id } } }';
  for (const grant of [`client:${client}`, 'partner']) {
    const ask = await viewerWith(gateway, [grant]);
    expect((await ask(SESSION, namesOf(0))).data).toEqual({ session: shown });
    clock.advance(MINUTE_PAST);
  }
});

it('the client of a session stays hidden if an event names them while access to another one is proven', async () => {
  const viewer = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
  const id = sessionId(gateway, ids.session(0, 0), ids.client(0));
  const isAsked = () => gateway.sandbox.countOf('GET /clinicians/:id/clients') > 0;
  gateway.sandbox.set({ latencyMs: 300 });
  const asked = viewer(
    'query($id: ID!) { node(id: $id) { ... on Session { client { clientId firstName } } } }',
    { id },
  );
  await until(isAsked);
  await nameAnotherClient();
  expect((await asked).data).toEqual({ node: null });
});

describe('a client who moves to another clinician', () => {
  it.each(['clinician', 'clinic'] as const)(
    'is hidden from the old %s after a minute, in every query, without an error',
    async (kind) => {
      const old = await viewerWith(gateway, [`${kind}:${ids[kind](0)}`]);
      expect((await old(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
      gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
      clock.advance(MINUTE_PAST);
      const { data, errors } = await old(BY_ID, namesOf(0));
      expect([data, errors]).toEqual([HIDDEN, undefined]);
      const mutation = `mutation($id: ID!) { magicEdit(input: { progressNoteId: $id, userInstructions: "x" }) { is: __typename } }`;
      const { note } = namesOf(0);
      expect((await old(mutation, { id: note })).data.magicEdit.is).toBe('NotFound');
    },
  );

  it.each([
    ['first on the list', [0], 30],
    ['last on the list', [416, 403, 390], 30],
    ['last on the list, of which the first page is read', [416, 403, 390], 10],
  ])(
    'is hidden from the old clinician as soon as the list is read again without them: %s',
    async (_, moving, first) => {
      const old = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
      const names = namesOf(moving[0]!);
      expect((await old(BY_ID, names)).data).toMatchObject(SHOWN);
      for (const nth of moving) gateway.sandbox.moveClient(ids.client(nth), ids.clinician(20));
      clock.advance(PAGES_EXPIRE);
      // Without the fourth page, which is empty if the last ones have moved.
      await old(listOf(first));
      expect((await old(BY_ID, names)).data).toEqual(HIDDEN);
      const edit = `mutation($id: ID!) { magicEdit(input: { progressNoteId: $id, userInstructions: "x" }) { is: __typename } }`;
      expect((await old(edit, { id: names.note })).data.magicEdit.is).toBe('NotFound');
    },
  );

  it('loses a session as soon as an event of it names another client, whatever its id says', async () => {
    const named = namesOf(0);
    const NOTE = 'query($note: ID!) { progressNote(id: $note) { note } }';
    const [first, second] = await Promise.all(
      [0, 1].map((nth) => viewerWith(gateway, [`client:${ids.client(nth)}`])),
    );
    const shown = { progressNote: { note: expect.any(Array) } };
    expect((await first!(NOTE, named)).data).toEqual(shown);
    expect((await second!(NOTE, named)).data).toEqual({ progressNote: null });
    await nameAnotherClient();
    expect((await first!(NOTE, named)).data).toEqual({ progressNote: null });
    expect((await second!(NOTE, named)).data).toEqual(shown);
  });

  it('is hidden from the old clinician although a late event of theirs follows that of the new one', async () => {
    const [old, fresh] = await Promise.all(
      [0, 20].map((nth) => viewerWith(gateway, [`clinician:${ids.clinician(nth)}`])),
    );
    const NAME = 'query($client: ID!) { client(id: $client) { firstName } }';
    expect((await old!(NAME, namesOf(0))).data.client).not.toBeNull();
    expect((await fresh!(NAME, namesOf(0))).data.client).toBeNull();
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    gateway.sandbox.startSession(ids.client(0));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const late = {
      clientId: ids.client(0),
      clinicianId: ids.clinician(0),
      clinicId: ids.clinic(0),
    };
    gateway.sandbox.emit(transcriptReady(late));
    await gateway.sandbox.delivered();
    expect((await old!(NAME, namesOf(0))).data.client).toBeNull();
    expect((await fresh!(NAME, namesOf(0))).data.client).not.toBeNull();
  });

  it('is hidden from the old clinician and shown to the new one in spite of cached answers, as soon as an event names the new one', async () => {
    const [old, fresh] = await Promise.all(
      [0, 20].map((nth) => viewerWith(gateway, [`clinician:${ids.clinician(nth)}`])),
    );
    const id = artifactId(gateway, 'Transcript', ids.session(0, 0), ids.client(0));
    const TRANSCRIPT = 'query($id: ID!) { node(id: $id) { id } }';
    for (let i = 0; i < 3; i += 1) {
      // The answers to the second request are the first that are cached. Their proof is by a search, as that of the first.
      if (i === 1) clock.advance(MINUTE_PAST);
      expect((await old!(TRANSCRIPT, { id })).data.node).toEqual({ id });
      expect((await fresh!(TRANSCRIPT, { id })).data.node).toBeNull();
    }
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    gateway.sandbox.startSession(ids.client(0));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    expect((await old!(TRANSCRIPT, { id })).data.node).toBeNull();
    expect((await fresh!(TRANSCRIPT, { id })).data.node).toEqual({ id });
    expect((await old!(BY_ID, namesOf(0))).data).toEqual(HIDDEN);
    expect((await fresh!(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
  });

  it('is hidden from the old clinician in spite of a cached answer, if the query names the clinician', async () => {
    const old = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    const named = { id: ids.client(0), clinicianId: ids.clinician(0) };
    const NAME =
      'query($id: ID!, $clinicianId: ID!) { client(id: $id, clinicianId: $clinicianId) { firstName } }';
    for (let i = 0; i < 3; i += 1) {
      if (i === 1) clock.advance(MINUTE_PAST);
      expect((await old(NAME, named)).data.client).not.toBeNull();
    }
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    gateway.sandbox.startSession(ids.client(0));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    expect((await old(NAME, named)).data.client).toBeNull();
  });

  it('stays readable by viewers with a grant for the client, and by the clinic they stay in', async () => {
    const grants = [`clinic:${ids.clinic(0)}`, `client:${ids.client(0)}`];
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(1));
    clock.advance(MINUTE_PAST);
    for (const grant of grants) {
      const ask = await viewerWith(gateway, [grant]);
      expect((await ask(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
    }
  });
});

describe('the check that a client is under a grant', () => {
  const NOTE = 'query($id: ID!) { progressNote(id: $id) { note } }';

  it('costs the page of the list where the client was last found, once a minute', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    await ask(LIST);
    const id = artifactId(gateway, 'ProgressNote', ids.session(260, 0), ids.client(260));
    clock.advance(MINUTE_PAST);
    const calls = async () => (await ask(NOTE, { id })).extensions.upstream.calls;
    expect(await calls()).toBe(2);
    clock.advance(30_000);
    expect(await calls()).toBe(1);
    clock.advance(31_000);
    expect(await calls()).toBe(2);
  });

  it('costs nothing for a client who is on another page since, or not on one of a filter', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    await ask(LIST);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    clock.advance(PAGES_EXPIRE);
    await ask(LIST);
    await ask(
      '{ viewer { clinicians { clients(filter: { firstName: "Nobody" }) { totalCount } } } }',
    );
    clock.advance(PAGES_EXPIRE);
    // The first of the second page, and the last of all, were a place further back.
    for (const nth of [130, 416]) {
      const id = artifactId(gateway, 'ProgressNote', ids.session(nth, 0), ids.client(nth));
      expect((await ask(NOTE, { id })).extensions.upstream.calls).toBe(1);
    }
  });

  it('costs nothing under an organization whose clinics and clients were listed within the minute', async () => {
    const ask = await viewerWith(gateway, [`organization:${ids.organization(0)}`]);
    await ask(
      '{ viewer { organizations { nodes { clinics { nodes { clients { nodes { id } } } } } } } }',
    );
    clock.advance(PAGES_EXPIRE);
    const id = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
    expect((await ask(NOTE, { id })).extensions.upstream.calls).toBe(1);
    const { data, extensions } = await ask(
      'query($id: ID!, $clinicId: ID!) { client(id: $id, clinicId: $clinicId) { clientId } }',
      { id: ids.client(0), clinicId: ids.clinic(0) },
    );
    expect([data.client.clientId, extensions.upstream.calls]).toEqual([ids.client(0), 0]);
  });

  it.each(['clinician', 'organization'] as const)(
    'ends the cached answers for the viewer of one %s when it expires',
    async (kind) => {
      const ask = await viewerWith(gateway, [`${kind}:${ids[kind](0)}`]);
      const id = artifactId(gateway, 'Transcript', ids.session(0, 0), ids.client(0));
      const document =
        'query($id: ID!) { node(id: $id) { ... on Transcript { items { speaker } } } }';
      for (let times = 0; times < 3; times += 1) await ask(document, { id });
      expect((await ask(document, { id })).data.node.items.length).toBeGreaterThan(0);
      gateway.sandbox.removeClient(ids.client(0));
      clock.advance(MINUTE_PAST);
      expect((await ask(document, { id })).data.node).toBeNull();
    },
  );

  it('is the same on a new process, and after a restart', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-places-'));
    using _ = { [Symbol.dispose]: () => rmSync(storeDir, { recursive: true }) };
    const { sandbox } = gateway;
    const grants = [`clinician:${ids.clinician(0)}`];
    for (let starts = 0; starts < 2; starts += 1) {
      await using again = await openGateway({ sandbox, storeDir });
      const ask = await viewerWith(again, grants);
      expect((await ask(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
      const otherClinician = await viewerWith(again, [`clinician:${ids.clinician(1)}`]);
      expect((await otherClinician(BY_ID, namesOf(0))).data).toEqual(HIDDEN);
    }
  });
});

describe('an event of a client who has moved', () => {
  let listener: Listener;
  afterEach(() => listener.close());
  const FINALIZED = 'subscription { noteFinalized { client { clientId } progressNote { note } } }';

  it('that names the new clinician is not delivered to the old one', async () => {
    listener = await listen(
      gateway,
      [`clinician:${ids.clinician(0)}`],
      'subscription { transcriptReady { client { clientId } } }',
    );
    const old = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    await old(LIST);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    gateway.sandbox.startSession(ids.client(0));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    gateway.sandbox.startSession(ids.client(13));
    gateway.sandbox.settle();
    const { data } = await listener.next();
    expect(data.transcriptReady.client.clientId).toBe(ids.client(13));
  });

  it('that names the old clinician gives them its ids, and nothing that it links to', async () => {
    listener = await listen(gateway, [`clinician:${ids.clinician(0)}`], FINALIZED);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    clock.advance(MINUTE_PAST);
    gateway.sandbox.finalize(ids.note(0, 0));
    const { data, errors } = await listener.next();
    expect([data.noteFinalized, errors]).toEqual([
      { client: { clientId: ids.client(0) }, progressNote: null },
      undefined,
    ]);
  });

  it('includes the note for the clinician whose client it is', async () => {
    listener = await listen(gateway, [`clinician:${ids.clinician(0)}`], FINALIZED);
    gateway.sandbox.finalize(ids.note(0, 0));
    const { data } = await listener.next();
    expect(data.noteFinalized.progressNote.note.length).toBeGreaterThan(0);
  });
});
