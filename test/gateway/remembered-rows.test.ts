import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Ask, createTurnableClock, viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

const clock = createTurnableClock();
let lines: { readonly msg: string; readonly outcome: string; readonly records: string[] }[] = [];
let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let partner: Ask;
beforeAll(async () => {
  gateway = await openGateway({
    clock,
    switches: { noteMs: 3_600_000 },
    onLog: (line) => lines.push(JSON.parse(line)),
  });
  ({ ids } = gateway.sandbox);
  partner = await viewerWith(gateway, ['partner']);
});
afterAll(() => gateway.close());

const SESSIONS = `query Sessions($client: ID!, $hint: ID) { client(id: $client, clinicId: $hint) {
  sessions { edges { node { sessionId progressNote { progressNoteId note } } } } } }`;

interface Row {
  readonly sessionId: string;
}

/** Never the same question, always the same rows. */
const sessionsOf = async (client: number, ask = partner) => {
  const { data, errors } = await ask(SESSIONS, { client: ids.client(client), hint: randomUUID() });
  expect(errors).toBeUndefined();
  return data.client.sessions.edges.map(({ node }: { node: unknown }) => node);
};

async function threeTimes<T>(ask: () => Promise<T>): Promise<T> {
  await ask();
  await ask();
  return ask();
}

const REGENERATE = `mutation($id: ID!) {
  regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }`;

const UPDATE = `mutation($id: ID!, $patch: JSON!) {
  updateProgressNote(input: { progressNoteId: $id, patch: $patch }) { __typename } }`;

describe('a row that is asked for again', () => {
  it('is the same, whatever else is asked', async () => {
    const first = await sessionsOf(0);
    gateway.sandbox.resetCounts();
    expect(await threeTimes(() => sessionsOf(0))).toEqual(first);
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(0);
  });

  it('is not given past an edit or an event', async () => {
    const document = `query($clinic: ID!, $hint: ID) { clinic(id: $clinic, organizationId: $hint) {
      clients(first: 1) { nodes { clientId sessions { nodes { sessionId progressNote {
        progressNoteId note } } } } } } }`;
    const client = async () => {
      const variables = { clinic: ids.clinic(0), hint: randomUUID() };
      return (await partner(document, variables)).data.clinic.clients.nodes[0];
    };
    const { sessionId } = gateway.sandbox.startSession((await client()).clientId);
    clock.turn(5_001);
    const noteNow = async () =>
      (await client()).sessions.nodes.find((row: Row) => row.sessionId === sessionId).progressNote;
    const loading = await threeTimes(noteNow);
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const generated = await threeTimes(noteNow);
    expect(generated).not.toEqual(loading);
    await partner(REGENERATE, { id: generated.progressNoteId });
    expect(await noteNow()).not.toEqual(generated);
  });

  it('is not given past the time for which the first of its answers holds', async () => {
    gateway.sandbox.startSession(ids.client(3));
    await threeTimes(() => sessionsOf(3));
    gateway.sandbox.resetCounts();
    clock.turn(1_001);
    await sessionsOf(3);
    expect(gateway.sandbox.countOf('GET /sessions/:id/progress-note')).toBe(1);
  });

  it('is given to viewers of the same reach only', async () => {
    const own = await viewerWith(gateway, [`client:${ids.client(4)}`]);
    const document = `query($client: ID!, $hint: ID) { client(id: $client, clinicId: $hint) {
      sessions { nodes { sessionId client { firstName clinic { name } } } } } }`;
    const shown = async (ask: Ask) =>
      (await ask(document, { client: ids.client(4), hint: randomUUID() })).data.client.sessions
        .nodes[0].client;
    const whole = await threeTimes(() => shown(partner));
    expect(whole.clinic.name).toEqual(expect.any(String));
    const part = await threeTimes(() => shown(own));
    expect(part).toEqual({ firstName: whole.firstName, clinic: { name: null } });
    expect(await shown(partner)).toEqual(whole);
  });

  it('is not given past an edit of a note that another field of the same query shows', async () => {
    const [client, session] = [ids.client(6), ids.session(6, 1)];
    const document = `query($client: ID!, $session: ID!, $hint: ID) {
      session(id: $session) { progressNote { progressNoteId note } }
      client(id: $client, clinicId: $hint) { sessions { nodes { sessionId progressNote { note } } } } }`;
    const both = async () => {
      const { data } = await partner(document, { client, session, hint: randomUUID() });
      const row = data.client.sessions.nodes.find((each: Row) => each.sessionId === session);
      return [data.session.progressNote, row.progressNote];
    };
    const [note, listed] = await threeTimes(both);
    expect(listed.note).toEqual(note.note);
    // Unlike a new generation, it is told by no event.
    await partner(UPDATE, { id: note.progressNoteId, patch: { note: [{ plan: 'walk' }] } });
    const [noteNow, listedNow] = await both();
    expect(noteNow.note).not.toEqual(note.note);
    expect(listedNow.note).toEqual(noteNow.note);
  });

  it('is not given for other variables', async () => {
    const document = `query($client: ID!, $hint: ID, $first: Int) {
      clinic(id: $client, organizationId: $hint) { clients(first: 2) { nodes {
        sessions(first: $first) { nodes { sessionId } } } } } }`;
    const lengths = async (first: number) => {
      const variables = { client: ids.clinic(0), hint: randomUUID(), first };
      const { data } = await partner(document, variables);
      return data.clinic.clients.nodes.map(
        ({ sessions }: { sessions: { nodes: unknown[] } }) => sessions.nodes.length,
      );
    };
    expect(await threeTimes(() => lengths(3))).toEqual([3, 3]);
    expect(await threeTimes(() => lengths(2))).toEqual([2, 2]);
  });

  it('is written down each time, each record once', async () => {
    const audited = async () => {
      lines = [];
      await sessionsOf(5);
      const read = lines.filter(({ msg, outcome }) => msg === 'audit' && outcome === 'read');
      return read.flatMap(({ records }) => records).toSorted();
    };
    const first = await audited();
    expect(first).toContain(`ProgressNote:${ids.note(5, 0)}`);
    expect(new Set(first).size).toBe(first.length);
    expect(await threeTimes(audited)).toEqual(first);
  });
});
