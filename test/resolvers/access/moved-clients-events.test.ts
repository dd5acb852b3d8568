import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readEnvelope, toNewEvent } from '../../../src/events/partner-event.ts';
import type { Uuid } from '../../../src/uuid.ts';
import { openEmbedded } from '../../../src/store/sqlite/open.ts';
import { listen } from '../../support/access/listener.ts';
import { transcriptReady } from '../../support/access/transcript-ready.ts';
import { MINUTE_PAST, createAdvancingClock, viewerWith } from '../../support/access/viewers.ts';
import { assessments, bytesOf, uuid } from '../../support/events/deliveries.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId } from '../../support/global-id.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let clock: ReturnType<typeof createAdvancingClock>;

async function open(env: Record<string, string> = {}): Promise<void> {
  clock = createAdvancingClock();
  gateway = await openGateway({ clock, env });
  ({ ids } = gateway.sandbox);
}
beforeEach(() => open());
afterEach(() => gateway.close());

const LIVE = 'subscription ($filter: EventFilter) { events(filter: $filter) { type } }';
const LOG =
  'query ($filter: EventFilter) { events(first: 100, filter: $filter) { nodes { type } } }';

/** The lists of the viewer's own grants. */
async function readLists(grants: readonly string[]): Promise<void> {
  const rows = 'clients(first: 100) { nodes { id } }';
  const viewer = await viewerWith(gateway, grants);
  await viewer(`{ viewer { clinicians { ${rows} } clinics { ${rows} } } }`);
}

/** Delivers an event of a session, which names the client's clinician and clinic. */
async function sessionOf(client: number): Promise<void> {
  gateway.sandbox.startSession(ids.client(client));
  gateway.sandbox.settle();
  await gateway.sandbox.delivered();
}

/** An event that the viewer receives in any case, to see that none came before it. */
const emitTranscript = (owner: Readonly<Record<string, string>>): void =>
  gateway.sandbox.emit(transcriptReady(owner));

async function completeAssessment(client: number): Promise<void> {
  gateway.sandbox.completeAssessments(ids.client(client));
  await gateway.sandbox.delivered();
}

describe('an assessment of a client who was last seen in another list', () => {
  it.each(['clinician', 'clinic'] as const)(
    'reaches a subscription and a query that filter by the new %s',
    async (kind) => {
      await readLists([`${kind}:${ids[kind](0)}`]);
      const to = kind === 'clinician' ? 1 : 20;
      gateway.sandbox.moveClient(ids.client(0), ids.clinician(to));
      clock.advance(MINUTE_PAST);
      const partner = await viewerWith(gateway, ['partner']);
      const { data } = await partner(
        'query ($id: ID!) { clinician(id: $id) { clinic { clinicId } } }',
        { id: ids.clinician(to) },
      );
      const id = kind === 'clinician' ? ids.clinician(to) : data.clinician.clinic.clinicId;
      const [grants, filter] = [[`${kind}:${id}`], { [`${kind}Id`]: id }];
      const listener = await listen(gateway, grants, LIVE, { filter });
      await completeAssessment(0);
      expect((await listener.next()).data.events.type).toBe('ASSESSMENT_COMPLETED');
      const viewer = await viewerWith(gateway, grants);
      const log = await viewer(LOG, { filter });
      expect(log.data.events.nodes).toEqual([{ type: 'ASSESSMENT_COMPLETED' }]);
      listener.close();
    },
  );

  it.each([true, false])(
    'does not reach the old clinician after an outage (an event named the new one: %s)',
    async (isNamed) => {
      const grants = [`clinician:${ids.clinician(0)}`];
      await readLists(grants);
      gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
      if (isNamed) await sessionOf(0);
      const listener = await listen(gateway, grants, LIVE);
      clock.advance(MINUTE_PAST);
      gateway.sandbox.set({ failureRate: 1 });
      await completeAssessment(0);
      emitTranscript({ clinicianId: ids.clinician(0) });
      await gateway.sandbox.delivered();
      gateway.sandbox.set({ failureRate: 0 });
      expect((await listener.next()).data.events.type).toBe('TRANSCRIPT_READY');
      listener.close();
    },
  );

  it('does not reach the old clinic if the calls of an operation are used up', async () => {
    await gateway.close();
    await open({ OPERATION_MAX_UPSTREAM_CALLS: '10' });
    const grants = [`clinic:${ids.clinic(0)}`];
    const viewer = await viewerWith(gateway, grants);
    await viewer('{ viewer { clinics { clients(first: 10) { nodes { id } } } } }');
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    clock.advance(MINUTE_PAST);
    const listener = await listen(gateway, grants, LIVE);
    await completeAssessment(0);
    emitTranscript({ clinicId: ids.clinic(0) });
    expect((await listener.next()).data.events.type).toBe('TRANSCRIPT_READY');
    expect(await gauge(gateway, 'events_left_out_total')).toBe(1);
    listener.close();
  });
});

it('an assessment of an hour ago is delivered after an outage, and not left out', async () => {
  const { sandbox } = gateway;
  const options = { sandbox, storeDir: join(gateway.storeDir, 'an-hour-old') };
  const before = await openGateway(options);
  const after = (await before.query('{ eventCursor }')).data.eventCursor;
  await before.close();
  {
    await using store = await openEmbedded(options.storeDir, { retentionMs: 1e9 });
    const receivedAt = Date.now() - 3_600_000;
    const envelope = readEnvelope(
      bytesOf(assessments(ids.client(0) as Uuid, [uuid()])),
      receivedAt,
    );
    const [facts] = 'events' in envelope ? envelope.events : [];
    await store.log.append([toNewEvent(facts!, receivedAt)]);
  }
  await using again = await openGateway(options);
  await again.query('{ organizations(first: 1) { nodes { name } } }');
  sandbox.set({ failureRate: 1 });
  const query = 'subscription ($after: EventCursor) { events(after: $after) { type } }';
  const listener = await listen(again, [`clinician:${ids.clinician(0)}`], query, { after });
  await until(() => sandbox.countOf('GET /clinicians/:clinicianId/clients') === 3);
  sandbox.set({ failureRate: 0 });
  expect((await listener.next()).data.events.type).toBe('ASSESSMENT_COMPLETED');
  expect(await gauge(again, 'events_left_out_total')).toBe(0);
  listener.close();
});

it('the log at the limit of calls ends before the event that was not decided, and goes on from there', async () => {
  await gateway.close();
  await open({ OPERATION_MAX_UPSTREAM_CALLS: '3' });
  const clinicId = ids.clinic(0);
  emitTranscript({ clinicId });
  await completeAssessment(1_100);
  emitTranscript({ clinicId });
  await gateway.sandbox.delivered();
  const viewer = await viewerWith(gateway, [`clinic:${clinicId}`]);
  const query = `query ($after: EventCursor) { events(first: 100, after: $after) {
    nodes { type } pageInfo { hasNextPage endCursor } } }`;
  const { data, errors } = await viewer(query);
  expect(errors).toBeUndefined();
  expect(data.events.nodes).toEqual([{ type: 'TRANSCRIPT_READY' }]);
  expect(data.events.pageInfo.hasNextPage).toBe(true);
  // Nothing can be said of that event within this limit.
  const next = await viewer(query, { after: data.events.pageInfo.endCursor });
  expect(next.errors?.[0]?.extensions.code).toBe('QUERY_TOO_EXPENSIVE');
});

describe('a client who has just come to a clinician whose list is cached', () => {
  const FOREIGN = 1_100;
  const grants = () => [`clinician:${ids.clinician(0)}`];

  it('has the assessment delivered to its viewers', async () => {
    const listener = await listen(gateway, grants(), LIVE);
    await readLists(grants());
    // Events that come together share a page.
    clock.advance(300);
    gateway.sandbox.moveClient(ids.client(FOREIGN), ids.clinician(0));
    await completeAssessment(FOREIGN);
    emitTranscript({ clinicianId: ids.clinician(0) });
    expect((await listener.next()).data.events.type).toBe('ASSESSMENT_COMPLETED');
    listener.close();
  });

  it('has it delivered although another client has left, and the list is as long as before', async () => {
    const viewer = await viewerWith(gateway, grants());
    const { data } = await viewer(
      '{ viewer { clinicians { clients(last: 1) { nodes { clientId } } } } }',
    );
    await readLists(grants());
    clock.advance(300);
    gateway.sandbox.removeClient(data.viewer.clinicians[0].clients.nodes[0].clientId);
    gateway.sandbox.moveClient(ids.client(FOREIGN), ids.clinician(0));
    await sessionOf(FOREIGN);
    const listener = await listen(gateway, grants(), LIVE);
    await completeAssessment(FOREIGN);
    emitTranscript({ clinicianId: ids.clinician(0) });
    expect((await listener.next()).data.events.type).toBe('ASSESSMENT_COMPLETED');
    listener.close();
  });

  it('has it delivered although another one was looked up in the cached list after their event', async () => {
    const viewer = await viewerWith(gateway, grants());
    const { data } = await viewer(
      '{ viewer { clinicians { clients(last: 1) { nodes { clientId } } } } }',
    );
    await readLists(grants());
    clock.advance(300);
    gateway.sandbox.removeClient(data.viewer.clinicians[0].clients.nodes[0].clientId);
    gateway.sandbox.moveClient(ids.client(FOREIGN), ids.clinician(0));
    await sessionOf(FOREIGN);
    const other = await viewer(`{ client(id: "${ids.client(1_101)}") { firstName } }`);
    expect(other.data.client).toBeNull();
    const listener = await listen(gateway, grants(), LIVE);
    await completeAssessment(FOREIGN);
    emitTranscript({ clinicianId: ids.clinician(0) });
    expect((await listener.next()).data.events.type).toBe('ASSESSMENT_COMPLETED');
    listener.close();
  });

  it('has the note delivered to its viewers with the event', async () => {
    const listener = await listen(
      gateway,
      grants(),
      'subscription { noteReady { client { firstName } progressNote { note } } }',
    );
    await readLists(grants());
    gateway.sandbox.moveClient(ids.client(FOREIGN), ids.clinician(0));
    await sessionOf(FOREIGN);
    expect((await listener.next()).data.noteReady).toEqual({
      client: { firstName: expect.any(String) },
      progressNote: { note: expect.anything() },
    });
    listener.close();
  });
});

it.each([false, true])(
  'an assessment of another clinic costs one call once the list was read through (filtered: %s)',
  async (isFiltered) => {
    const clinicId = ids.clinic(0);
    const filter = isFiltered ? { clinicId } : {};
    const listener = await listen(gateway, [`clinic:${clinicId}`], LIVE, { filter });
    const calls: number[] = [];
    for (let client = 1_100; client < 1_103; client += 1) {
      clock.advance(6_000);
      gateway.sandbox.resetCounts();
      await completeAssessment(client);
      emitTranscript({ clinicId });
      expect((await listener.next()).data.events.type).toBe('TRANSCRIPT_READY');
      calls.push(gateway.sandbox.countOf('GET /clinics/:id/clients'));
    }
    expect(calls.slice(1)).toEqual([1, 1]);
    listener.close();
  },
);

describe('an assessment of a client whose place in the list has changed', () => {
  const grants = () => [`clinician:${ids.clinician(0)}`];
  /** The first clients of the clinician. */
  async function readFirst(count: number, from: Gateway): Promise<string[]> {
    const query =
      'query($n: Int) { viewer { clinicians { clients(first: $n) { nodes { clientId } } } } }';
    const { data } = await (await viewerWith(from, grants()))(query, { n: count });
    const [clinician] = data.viewer.clinicians;
    return clinician.clients.nodes.map(({ clientId }: { clientId: string }) => clientId);
  }
  async function logAfterAssessment(clientId: string | undefined, from: Gateway) {
    gateway.sandbox.completeAssessments(clientId!);
    await gateway.sandbox.delivered();
    const { data } = await (await viewerWith(from, grants()))(LOG);
    return data.events.nodes;
  }
  const SHOWN = [{ type: 'ASSESSMENT_COMPLETED' }];

  it('is in the log if a new client came before theirs, and the list is as long as before', async () => {
    const clients = await readFirst(100, gateway);
    // The list is read through without this client.
    expect(await logAfterAssessment(ids.client(1_100), gateway)).toEqual([]);
    gateway.sandbox.addClient(ids.clinician(0), 'head');
    gateway.sandbox.removeClient(clients.at(-1)!);
    clock.advance(6_000);
    expect(await readFirst(10, gateway)).not.toContain(clients[9]);
    expect(await logAfterAssessment(clients[9], gateway)).toEqual(SHOWN);
  });

  it('is in the log if they have moved up between two pages that were read seconds apart', async () => {
    const viewer = await viewerWith(gateway, grants());
    await using other = await openGateway({ sandbox: gateway.sandbox });
    const clients = await readFirst(100, other);
    await readFirst(20, gateway);
    gateway.sandbox.removeClient(clients[0]!);
    gateway.sandbox.addClient(ids.clinician(0), 'tail');
    clock.advance(3_000);
    const others = `clients(last: ${clients.length - 20}) { nodes { clientId } }`;
    const { data } = await viewer(`{ viewer { clinicians { ${others} } } }`);
    expect(data.viewer.clinicians[0].clients.nodes).not.toContainEqual({ clientId: clients[20] });
    clock.advance(500);
    // Looked up in the cached pages.
    const absent = await viewer(`{ client(id: "${ids.client(1_101)}") { firstName } }`);
    expect(absent.data.client).toBeNull();
    expect(await logAfterAssessment(clients[20], gateway)).toEqual(SHOWN);
  });

  it('is in the log if they were assigned here, and the list is as long as before', async () => {
    const clients = await readFirst(100, gateway);
    const [client, clinician] = [ids.client(1_100), ids.clinician(0)];
    expect(await logAfterAssessment(client, gateway)).toEqual([]);
    const { data } = await gateway.query(
      `mutation ($input: AssignSecondaryCliniciansInput!) {
        result: assignSecondaryClinicians(input: $input) { type: __typename } }`,
      { input: { clientId: client, clinicianIds: [clinician] } },
    );
    expect(data.result.type).toBe('SecondaryCliniciansAssigned');
    gateway.sandbox.moveClient(client, clinician);
    gateway.sandbox.removeClient(clients[0]!);
    clock.advance(300);
    expect(await logAfterAssessment(client, gateway)).toContainEqual(SHOWN[0]);
  });

  it('is in the log if they were assigned here while the list was read, and it is as long as before', async () => {
    const clients = await readFirst(100, gateway);
    const [client, clinician] = [ids.client(1_100), ids.clinician(0)];
    const LIST = 'GET /clinicians/:id/clients';
    const viewer = await viewerWith(gateway, grants());
    const { data: read } = await gateway.query(
      'query ($id: ID!) { clinician(id: $id) { clients(first: 100) { totalCount nodes { raw } } } }',
      { id: clinician },
    );
    const { nodes, totalCount: totalItems } = read.clinician.clients;
    const rows = nodes.map(({ raw }: { raw: unknown }) => raw).slice(0, 10);
    const meta = { totalItems, totalPages: Math.ceil(totalItems / 10), currentPage: 1 };
    clock.advance(6_000);
    gateway.sandbox.resetCounts();
    const answer = Promise.withResolvers<void>();
    gateway.sandbox.answerNext(LIST, { heldUntil: answer.promise, body: { data: rows, meta } });
    // The list is read through, without the client. Its first page is answered after the assignment.
    const scan = viewer(`{ client(id: "${ids.client(1_101)}") { firstName } }`);
    await expect.poll(() => gateway.sandbox.countOf(LIST)).toBe(1);
    const { data } = await gateway.query(
      `mutation ($input: AssignSecondaryCliniciansInput!) {
        result: assignSecondaryClinicians(input: $input) { type: __typename } }`,
      { input: { clientId: client, clinicianIds: [clinician] } },
    );
    expect(data.result.type).toBe('SecondaryCliniciansAssigned');
    answer.resolve();
    expect((await scan).data.client).toBeNull();
    gateway.sandbox.moveClient(client, clinician);
    gateway.sandbox.removeClient(clients[0]!);
    clock.advance(300);
    expect(await logAfterAssessment(client, gateway)).toContainEqual(SHOWN[0]);
  });

  it('is in the log if they have moved up a page since they were last seen, before a restart', async () => {
    const { sandbox } = gateway;
    const options = { sandbox, clock, storeDir: join(gateway.storeDir, 'restarted') };
    const first = await openGateway(options);
    const clients = await readFirst(100, first);
    await first.close();
    for (const each of clients.splice(12)) sandbox.removeClient(each);
    await using restarted = await openGateway(options);
    sandbox.deliverTo(`${restarted.url}/webhooks`);
    await readFirst(10, restarted);
    sandbox.removeClient(clients[0]!);
    clock.advance(400);
    expect(await logAfterAssessment(clients[10], restarted)).toEqual(SHOWN);
  });
});

describe('a list that is older than an event which names another clinician', () => {
  const NOTE = 'query ($id: ID!) { progressNote(id: $id) { progressNoteId } }';

  it('proves nothing if the old clinician is an argument', async () => {
    const old = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    const query = `query ($id: ID!, $clinician: ID) { client(id: $id, clinicianId: $clinician) { firstName } }`;
    const variables = { id: ids.client(0), clinician: ids.clinician(0) };
    expect((await old(query, variables)).data.client).not.toBeNull();
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    await sessionOf(0);
    expect((await old(query, variables)).data.client).toBeNull();
    // The list was read anew once. It is not read anew for each further query.
    gateway.sandbox.resetCounts();
    expect((await old(query, variables)).data.client).toBeNull();
    expect(gateway.sandbox.countOf('GET /clinicians/:id/clients')).toBe(0);
  });

  it('proves nothing if it was in flight when the event came', async () => {
    const grants = [`clinician:${ids.clinician(0)}`];
    const partner = await viewerWith(gateway, ['partner']);
    const { data } = await partner(
      'query ($id: ID!) { clinician(id: $id) { clients(first: 10) { totalCount nodes { raw } } } }',
      { id: ids.clinician(0) },
    );
    const { nodes, totalCount: totalItems } = data.clinician.clients;
    const rows = nodes.map(({ raw }: { raw: unknown }) => raw);
    const meta = { totalItems, totalPages: Math.ceil(totalItems / 10), currentPage: 1 };
    clock.advance(MINUTE_PAST);
    const LIST = 'GET /clinicians/:id/clients';
    gateway.sandbox.resetCounts();
    const answer = Promise.withResolvers<void>();
    const body = { data: rows, meta };
    gateway.sandbox.answerNext(LIST, { heldUntil: answer.promise, body });
    const old = await viewerWith(gateway, grants);
    const listing = old('{ viewer { clinicians { clients(first: 10) { nodes { id } } } } }');
    await expect.poll(() => gateway.sandbox.countOf(LIST)).toBe(1);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    await sessionOf(0);
    answer.resolve();
    expect((await listing).errors).toBeUndefined();
    clock.advance(30_000);
    const id = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
    expect((await old(NOTE, { id })).data.progressNote).toBeNull();
  });

  it('proves nothing if it was in flight, for a look-up, when the event came', async () => {
    const viewer = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    const LIST = 'GET /clinicians/:id/clients';
    const [row] = (await viewer('{ viewer { clinicians { clients { nodes { raw } } } } }')).data
      .viewer.clinicians[0].clients.nodes;
    clock.advance(MINUTE_PAST);
    gateway.sandbox.resetCounts();
    const answer = Promise.withResolvers<void>();
    const body = { data: [row.raw], meta: { totalItems: 1, totalPages: 1, currentPage: 1 } };
    gateway.sandbox.answerNext(LIST, { heldUntil: answer.promise, body });
    const id = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
    const lookup = viewer(NOTE, { id });
    await expect.poll(() => gateway.sandbox.countOf(LIST)).toBe(1);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    await sessionOf(0);
    answer.resolve();
    expect((await lookup).data.progressNote).toBeNull();
  });

  it('proves nothing for a look-up that began after the event, while it was in flight', async () => {
    const LIST = 'GET /clinicians/:id/clients';
    const FIRST = '{ viewer { clinicians { clients { nodes { raw } } } } }';
    const viewer = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    const [row] = (await viewer(FIRST)).data.viewer.clinicians[0].clients.nodes;
    await using fresh = await openGateway({ sandbox: gateway.sandbox, clock });
    gateway.sandbox.deliverTo(`${fresh.url}/webhooks`);
    gateway.sandbox.resetCounts();
    const answer = Promise.withResolvers<void>();
    const body = { data: [row.raw], meta: { totalItems: 1, totalPages: 1, currentPage: 1 } };
    gateway.sandbox.answerNext(LIST, { heldUntil: answer.promise, body });
    const old = await viewerWith(fresh, [`clinician:${ids.clinician(0)}`]);
    const listing = old(FIRST);
    await expect.poll(() => gateway.sandbox.countOf(LIST)).toBe(1);
    gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
    await sessionOf(0);
    const id = artifactId(gateway, 'ProgressNote', ids.session(0, 0), ids.client(0));
    const lookup = old(NOTE, { id });
    // It waits for the page that is in flight.
    await setTimeout(100);
    answer.resolve();
    await listing;
    expect((await lookup).data.progressNote).toBeNull();
  });
});

it('an event of a client who has moved does not show the old clinic where they are now', async () => {
  await sessionOf(0);
  gateway.sandbox.moveClient(ids.client(0), ids.clinician(20));
  clock.advance(MINUTE_PAST);
  const viewer = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
  const { data } = await viewer(`{ events { nodes { ... on SessionEvent {
    client { clientId firstName clinic { clinicId } } session { client { clientId firstName clinic { clinicId } } } } } } }`);
  const [{ client, session }] = data.events.nodes;
  expect(client).toEqual({ clientId: ids.client(0), firstName: null, clinic: null });
  expect(session.client).toEqual(client);
});
