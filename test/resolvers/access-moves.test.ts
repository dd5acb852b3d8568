import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type Listener, listen } from '../support/access/listener.ts';
import {
  MINUTE_PAST,
  createTurnableClock,
  globalId,
  viewerWith,
} from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let clock: ReturnType<typeof createTurnableClock>;
beforeEach(async () => {
  clock = createTurnableClock();
  gateway = await openGateway({ clock });
  ({ ids } = gateway.sandbox);
});
afterEach(() => gateway.close());

const MET = `{ viewer { clinics { clients(first: 100) { nodes { id } } }
  clinicians { clients(first: 100) { nodes { id } } } } }`;
const DOWN = `query($id: ID!) { client(id: $id) { sessions(first: 3) { nodes { progressNote { id } } } } }`;
const BY_ID = `query($client: ID!, $session: ID!, $note: ID!, $nodes: [ID!]!) {
  client(id: $client) { firstName clinic { id } sessions { totalCount } }
  session(id: $session) { raw client { id } progressNote { note } transcript { id } events { cursor } }
  progressNote(id: $note) { note }
  nodes(ids: $nodes) { ... on Client { lastName } ... on ProgressNote { note } ... on Transcript { items { speaker } } }
  events(first: 100) { nodes { ... on SessionEvent { client { clientId } } } } }`;

const namesOf = (client: number) => ({
  client: ids.client(client),
  session: ids.session(client, 0),
  note: ids.note(client, 0),
  nodes: [
    globalId('Client', ids.client(client)),
    globalId('ProgressNote', ids.note(client, 0)),
    globalId('Transcript', ids.session(client, 0)),
  ],
});

const SHOWN = {
  client: { firstName: expect.any(String) },
  session: { progressNote: { note: expect.any(Array) }, transcript: { id: expect.any(String) } },
  progressNote: { note: expect.any(Array) },
  nodes: [{ lastName: expect.any(String) }, { note: expect.any(Array) }, expect.any(Object)],
};
const HIDDEN = {
  client: { firstName: null, clinic: null, sessions: null },
  session: null,
  progressNote: null,
  nodes: [{ lastName: null }, null, null],
  events: { nodes: [] },
};

describe('a client who moves to another clinician', () => {
  it.each(['clinician', 'clinic'] as const)(
    'is out of the old %s’s reach after a minute, by every way',
    async (kind) => {
      const old = await viewerWith(gateway, [`${kind}:${ids[kind](0)}`]);
      await old(MET);
      await old(DOWN, { id: ids.client(0) });
      gateway.sandbox.finalize(ids.note(0, 0));
      await gateway.sandbox.delivered();
      expect((await old(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);

      gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
      clock.turn(MINUTE_PAST);
      const { data, errors } = await old(BY_ID, namesOf(0));
      expect(data).toEqual(HIDDEN);
      expect(new Set(errors?.map(({ extensions }) => extensions.code))).toEqual(
        new Set(['NOT_FOUND']),
      );
      const mutation = `mutation($id: ID!) { magicEdit(input: { progressNoteId: $id, userInstructions: "x" }) { is: __typename } }`;
      expect((await old(mutation, { id: ids.note(0, 1) })).data.magicEdit.is).toBe('NotFound');
    },
  );

  it('is open to the new clinician as soon as they have met', async () => {
    const grant = `clinician:${ids.clinician(20)}`;
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    const fresh = await viewerWith(gateway, [grant]);
    await fresh(MET);
    await fresh(DOWN, { id: ids.client(0) });
    expect((await fresh(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
  });

  it('stays open to whoever has a grant for the client, and to the clinic they stay in', async () => {
    const [clinic, client] = [`clinic:${ids.clinic(0)}`, `client:${ids.client(0)}`];
    const [boss, kin] = [await viewerWith(gateway, [clinic]), await viewerWith(gateway, [client])];
    await boss(MET);
    await boss(DOWN, { id: ids.client(0) });
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(1));
    clock.turn(MINUTE_PAST);
    for (const ask of [boss, kin]) expect((await ask(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
  });

  it('costs one page of the list to prove again, once a minute', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    await ask(MET);
    await ask(DOWN, { id: ids.client(13) });
    const note = 'query($id: ID!) { session(id: $id) { progressNote { id } } }';
    clock.turn(MINUTE_PAST);
    const calls = async () =>
      (await ask(note, { id: ids.session(13, 0) })).extensions.upstream.calls;
    expect(await calls()).toBe(2);
    clock.turn(30_000);
    expect(await calls()).toBe(1);
  });
});

describe('an event of a client who has moved', () => {
  const HEAR = 'subscription { noteFinalized { client { clientId } progressNote { note } } }';
  let listener: Listener;
  afterEach(() => listener.close());

  /** What the next event is about: one that is heard by everybody here follows. */
  async function heardOf(moved: number, staying: number): Promise<unknown> {
    gateway.sandbox.finalize(ids.note(moved, 0));
    await gateway.sandbox.delivered();
    gateway.sandbox.finalize(ids.note(staying, 0));
    const { data } = await listener.next();
    return data.noteFinalized.client.clientId;
  }

  it.each([
    ['clinic', true],
    ['clinic', false],
    ['clinician', true],
    ['clinician', false],
  ] as const)(
    'does not reach the old %s after a minute, though it names it (list read before: %s)',
    async (kind, isMet) => {
      const grants = [`${kind}:${ids[kind](0)}`];
      if (isMet) await (await viewerWith(gateway, grants))(MET);
      listener = await listen(gateway, grants, HEAR);
      gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
      clock.turn(MINUTE_PAST);
      expect(await heardOf(0, 13)).toBe(ids.client(13));
      // Nor a second time: what the first event said about the clinician is no proof.
      gateway.sandbox.finalize(ids.note(0, 1));
      await gateway.sandbox.delivered();
      expect(await heardOf(0, 26)).toBe(ids.client(26));
    },
  );

  it('does not reopen the client to the clinician whom it names', async () => {
    listener = await listen(gateway, ['partner'], HEAR);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    expect(await heardOf(0, 13)).toBe(ids.client(0));
    const old = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    expect((await old(BY_ID, namesOf(0))).data).toMatchObject({ ...HIDDEN, events: {} });
  });

  it('reaches the new clinician, whose client it is about', async () => {
    const grants = [`clinician:${ids.clinician(20)}`];
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    await (
      await viewerWith(gateway, grants)
    )(MET);
    listener = await listen(gateway, grants, HEAR);
    expect(await heardOf(0, 0)).toBe(ids.client(0));
  });
});

describe('after a restart', () => {
  it('a clinician’s own sessions and notes are found as before', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-access-'));
    using _ = { [Symbol.dispose]: () => rmSync(storeDir, { recursive: true }) };
    const { sandbox } = gateway;
    const grants = [`clinician:${ids.clinician(0)}`];
    {
      await using first = await openGateway({ sandbox, storeDir });
      const ask = await viewerWith(first, grants);
      await ask(MET);
      await ask(DOWN, { id: ids.client(0) });
    }
    for (const aheadMs of [0, 1_800_000]) {
      clock.turn(aheadMs);
      await using again = await openGateway({ sandbox, storeDir, clock });
      const ask = await viewerWith(again, grants);
      expect((await ask(BY_ID, namesOf(0))).data).toMatchObject(SHOWN);
      const stranger = await viewerWith(again, [`clinician:${ids.clinician(1)}`]);
      expect((await stranger(BY_ID, namesOf(0))).data).toEqual(HIDDEN);
    }
  });
});
