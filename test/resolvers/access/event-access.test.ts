import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { listen } from '../../support/access/listener.ts';
import { transcriptReady } from '../../support/access/transcript-ready.ts';
import {
  MINUTE_PAST,
  createAdvancingClock,
  createManualClock,
  viewerWith,
} from '../../support/access/viewers.ts';
import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { sessionId as sessionIdOf } from '../../support/global-id.ts';
import { callsTo } from '../../support/graph/counted.ts';
import { clientOf, cursorNow, subscribeTo } from '../../support/ws/graphql-client.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const SCORES = `query($filter: EventFilter) { events(first: 100, filter: $filter) { nodes {
  ... on AssessmentCompleted { assessmentScoreId client { clientId firstName } assessmentScore { totalScore } } } } }`;
const MET = `{ viewer { organizations { nodes { clinics { nodes { clients { nodes { id } } } } } }
  clinics { clients { nodes { id } } } clinicians { clients { nodes { id } } } } }`;

/** All grants that include the client, and grants of the same kinds that do not. Clients 0 and 14 are clinician 0’s and 1’s. */
const grantsFor = (): [string, boolean][] => [
  ['partner', true],
  [`organization:${ids.organization(0)}`, true],
  [`clinic:${ids.clinic(0)}`, true],
  [`clinician:${ids.clinician(0)}`, true],
  [`client:${ids.client(0)}`, true],
  [`organization:${ids.organization(1)}`, false],
  [`clinic:${ids.clinic(1)}`, false],
  [`clinician:${ids.clinician(1)}`, false],
  [`client:${ids.client(14)}`, false],
  [`session:${ids.session(0, 0)}`, false],
];

describe('assessment_completed, which names only its client', () => {
  it('is in the log for viewers who may read the client, and for no other', async () => {
    const [score] = gateway.sandbox.completeAssessments(ids.client(0));
    await gateway.sandbox.delivered();
    for (const [grant, isOpen] of grantsFor()) {
      const ask = await viewerWith(gateway, [grant]);
      await ask(MET);
      const { data, errors } = await ask(SCORES, { filter: { types: ['ASSESSMENT_COMPLETED'] } });
      expect(errors).toBeUndefined();
      const event = {
        assessmentScoreId: score,
        client: { clientId: ids.client(0), firstName: expect.any(String) },
        assessmentScore: { totalScore: expect.any(Number) },
      };
      expect([grant, data.events.nodes]).toEqual([grant, isOpen ? [event] : []]);
    }
  });

  it('costs one call in all for a granted clinic that does not exist', async () => {
    await using own = await openGateway();
    for (const n of [0, 14, 420]) own.sandbox.completeAssessments(own.sandbox.ids.client(n));
    await own.sandbox.delivered();
    const ask = await viewerWith(own, [`clinic:${randomUUID()}`]);
    const { data, errors, extensions } = await ask(SCORES);
    expect(errors).toBeUndefined();
    expect(data.events.nodes).toEqual([]);
    expect(extensions.upstream.calls).toBe(1);
  });

  it('is delivered live to each subscriber who may read the client, and to no other', async () => {
    const document = 'subscription { assessmentCompleted { client { clientId } } }';
    const listeners = await Promise.all(
      grantsFor().map(([grant]) => listen(gateway, [grant], document)),
    );
    for (const [grant] of grantsFor()) await (await viewerWith(gateway, [grant]))(MET);
    const partner = await listen(gateway, ['partner'], document);
    gateway.sandbox.completeAssessments(ids.client(0));
    await partner.next();
    // An event that every listener gets: one that got nothing before it was sent nothing.
    for (const client of [1_100, 420, 14]) gateway.sandbox.completeAssessments(ids.client(client));
    const received = await Promise.all(
      listeners.map(async (listener, i) => {
        const [grant] = grantsFor()[i]!;
        if (grant.startsWith('session:')) return undefined;
        return (await listener.next()).data.assessmentCompleted.client.clientId === ids.client(0);
      }),
    );
    const expected = grantsFor().map(([grant, open]) =>
      grant.startsWith('session:') ? undefined : open,
    );
    expect(received).toEqual(expected);
    for (const listener of [...listeners, partner]) listener.close();
  });
});

describe('while the lists can’t be read', () => {
  const document = `subscription($after: EventCursor) { events(after: $after) {
    __typename ... on AssessmentCompleted { assessmentScoreId } } }`;
  const lines: string[] = [];
  let own: Gateway;
  beforeAll(async () => {
    own = await openGateway({ onLog: (line) => lines.push(line) });
  });
  afterAll(() => own.close());

  // Each reads another list, which is not cached.
  const CLIENTS = '/clinics/:clinicId/clients';
  it.each([
    ['clinic', 0, CLIENTS, { status: 503, times: 4 }],
    ['clinic', 1, CLIENTS, { body: 'not a list' }],
    ['clinic', 2, CLIENTS, { status: 403, body: { message: 'Forbidden' } }],
    ['organization', 1, '/organizations/:organizationId/clinics', { status: 503, times: 4 }],
  ] as const)(
    'a viewer of the %s gets the event once they can',
    async (kind, nth, route, answer) => {
      const after = await cursorNow(own);
      const token = await tokenFor([`${kind}:${ids[kind](nth)}`]);
      await using events = subscribeTo(clientOf(own, token), document, { after });
      own.sandbox.answerNext(route, answer);
      const client = kind === 'clinic' ? [0, 420, 780][nth]! : 1_100;
      const [score] = own.sandbox.completeAssessments(ids.client(client));
      const { data } = await events.next();
      expect(data.events.assessmentScoreId).toBe(score);
      expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
      expect(await gauge(own, 'events_failed_total')).toBe(0);
    },
  );
});

it('a filter by session needs no client beside the session’s global id, which contains it', async () => {
  const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
  const filtered = (sessionId: string) =>
    ask('query($sessionId: ID!) { events(filter: { sessionId: $sessionId }) { nodes { type } } }', {
      sessionId,
    });
  const session = ids.session(0, 0);
  const bare = await filtered(session);
  expect(bare.errors?.[0]?.message).toContain('add `clientId`');
  expect((await filtered(sessionIdOf(gateway, session, ids.client(0)))).errors).toBeUndefined();
});

it('a filter whose records belong together is accepted, and any other is not found', async () => {
  const ask = await viewerWith(gateway, [`organization:${ids.organization(0)}`]);
  const codeFor = async (filter: Readonly<Record<string, string>>) => {
    const document = 'query($filter: EventFilter) { events(filter: $filter) { nodes { type } } }';
    return (await ask(document, { filter })).errors?.[0]?.extensions.code;
  };
  const [sessionId, clientId, clinicianId] = [ids.session(0, 0), ids.client(0), ids.clinician(0)];
  expect(await codeFor({ sessionId, clientId })).toBeUndefined();
  for (const mixed of [
    { sessionId, clientId: ids.client(14) },
    { clientId, clinicId: ids.clinic(1) },
    { clinicianId, clinicId: ids.clinic(1) },
    { clinicId: ids.clinic(0), organizationId: ids.organization(1) },
  ])
    expect([mixed, await codeFor(mixed)]).toEqual([mixed, 'NOT_FOUND']);
});

describe('a filter by clinic or clinician, on a gateway with empty caches', () => {
  /** Filters that name a parent of client 0, and filters that name another record of the same kind. */
  const filters = (): [Readonly<Record<string, string>>, boolean][] => [
    [{ clinicianId: ids.clinician(0) }, true],
    [{ clinicId: ids.clinic(0) }, true],
    [{ organizationId: ids.organization(0) }, true],
    [{ organizationId: ids.organization(0), clinicianId: ids.clinician(0) }, true],
    [{ clinicianId: ids.clinician(1) }, false],
    [{ clinicId: ids.clinic(1) }, false],
    [{ organizationId: ids.organization(1) }, false],
    [{ clinicianId: ids.clinician(0), organizationId: ids.organization(1) }, false],
  ];
  const grantOf = (filter: object) => {
    const [[name, id] = []] = Object.entries(filter);
    return `${name?.slice(0, -2)}:${id}`;
  };
  const EVENTS = `query($filter: EventFilter) { events(first: 100, filter: $filter) { nodes {
    ... on AssessmentCompleted { assessmentScoreId } } } }`;
  const LIVE = `subscription($filter: EventFilter, $after: EventCursor) { events(filter: $filter, after: $after) {
    ... on AssessmentCompleted { assessmentScoreId } ... on TranscriptReady { cursor } } }`;

  it.each(['partner', 'own'])('finds an assessment in the log, as a viewer of %s', async (kind) => {
    await using cold = await openGateway();
    const [score] = cold.sandbox.completeAssessments(ids.client(0));
    await cold.sandbox.delivered();
    // All at once, so that none of them finds a list in the cache.
    const found = filters().map(async ([filter, isMatch]) => {
      const ask = await viewerWith(cold, [kind === 'own' ? grantOf(filter) : kind]);
      const { data, errors } = await ask(EVENTS, { filter });
      const nodes = isMatch ? [{ assessmentScoreId: score }] : [];
      expect([filter, errors, data.events.nodes]).toEqual([filter, undefined, nodes]);
    });
    await Promise.all(found);
  });

  it.each(['live', 'resumed'])('delivers an assessment that is %s', async (kind) => {
    await using cold = await openGateway();
    const after = kind === 'live' ? null : await cursorNow(cold);
    let score: string | undefined;
    const complete = async () => {
      [score] = cold.sandbox.completeAssessments(ids.client(0));
      await cold.sandbox.delivered();
    };
    if (kind === 'resumed') await complete();
    const all = filters().flatMap(([filter, isMatch]) =>
      ['partner', grantOf(filter)].map((grant) => ({ filter, isMatch, grant })),
    );
    const listeners = await Promise.all(
      all.map(({ filter, grant }) => listen(cold, [grant], LIVE, { filter, after })),
    );
    if (kind === 'live') await complete();
    // An event that every listener gets, so that "nothing before it" can be seen.
    for (const [filter] of filters()) cold.sandbox.emit(transcriptReady(filter));
    const first = await Promise.all(listeners.map(async (each) => (await each.next()).data.events));
    expect(first).toEqual(
      all.map(({ isMatch }) =>
        isMatch ? { assessmentScoreId: score } : { cursor: expect.any(String) },
      ),
    );
    for (const listener of listeners) listener.close();
  });

  it('shows no assessment under a record that the viewer may not open, and makes no call for it', async () => {
    await using cold = await openGateway();
    const clientId = ids.client(0);
    cold.sandbox.completeAssessments(clientId);
    await cold.sandbox.delivered();
    const ask = await viewerWith(cold, [`client:${clientId}`]);
    const parents = [
      ...['clinicianId', 'clinicId', 'organizationId'].map((name) => ({ [name]: randomUUID() })),
      ...filters().map(([filter]) => filter),
    ];
    const before = callsTo(cold);
    for (const parent of parents) {
      const { data } = await ask(EVENTS, { filter: { clientId, ...parent } });
      expect([parent, data.events.nodes]).toEqual([parent, []]);
    }
    expect(callsTo(cold)).toBe(before);
    expect((await ask(EVENTS, { filter: { clientId } })).data.events.nodes).toHaveLength(1);
  });

  it('delivers no assessment once the clinician has left the viewer’s clinic', async () => {
    const clock = createAdvancingClock();
    await using warm = await openGateway({ clock });
    const filter = { clinicianId: ids.clinician(0) };
    const listener = await listen(warm, [`clinic:${ids.clinic(0)}`], LIVE, { filter });
    const [score] = warm.sandbox.completeAssessments(ids.client(0));
    expect((await listener.next()).data.events).toEqual({ assessmentScoreId: score });
    clock.advance(MINUTE_PAST);
    const meta = { totalItems: 0, totalPages: 0, itemsPerPage: 10, currentPage: 1 };
    warm.sandbox.answerNext('/clinics/:clinicId/clinicians', { body: { data: [], meta } });
    warm.sandbox.completeAssessments(ids.client(0));
    await warm.sandbox.delivered();
    // An event that the listener gets, to see that none came before it.
    warm.sandbox.emit(transcriptReady({ ...filter, clinicId: ids.clinic(0) }));
    expect((await listener.next()).data.events).toEqual({ cursor: expect.any(String) });
    listener.close();
  });

  it('does not look for the clinician for an assessment of another clinic’s client', async () => {
    const clock = createAdvancingClock();
    await using warm = await openGateway({ clock });
    const filter = { clinicianId: ids.clinician(0) };
    const listener = await listen(warm, [`clinic:${ids.clinic(0)}`], LIVE, { filter });
    clock.advance(MINUTE_PAST);
    warm.sandbox.resetCounts();
    warm.sandbox.completeAssessments(ids.client(1_100));
    await warm.sandbox.delivered();
    warm.sandbox.emit(transcriptReady({ ...filter, clinicId: ids.clinic(0) }));
    expect((await listener.next()).data.events).toEqual({ cursor: expect.any(String) });
    expect(warm.sandbox.countOf('GET /clinics/:clinicId/clients')).toBeGreaterThan(0);
    expect(warm.sandbox.countOf('GET /clinics/:clinicId/clinicians')).toBe(0);
    listener.close();
  });

  it('makes one call a minute for the clinician, also for a viewer of the organization', async () => {
    const clock = createAdvancingClock();
    await using warm = await openGateway({ clock });
    const filter = { clinicianId: ids.clinician(0) };
    const listener = await listen(warm, [`organization:${ids.organization(0)}`], LIVE, { filter });
    warm.sandbox.resetCounts();
    for (const advancedMs of [6_000, 6_000, MINUTE_PAST]) {
      expect(warm.sandbox.countOf('GET /clinics/:clinicId/clinicians')).toBe(0);
      clock.advance(advancedMs);
      const [score] = warm.sandbox.completeAssessments(ids.client(0));
      expect((await listener.next()).data.events).toEqual({ assessmentScoreId: score });
    }
    expect(warm.sandbox.countOf('GET /clinics/:clinicId/clinicians')).toBe(1);
    listener.close();
  });

  it('reads a list again that is older than the assessment by more than the time to share a page', async () => {
    const clock = createManualClock();
    await using warm = await openGateway({ clock });
    const { sandbox } = warm;
    const [other, joining] = [ids.client(1_101), ids.client(1_100)];
    const clinician = `clinician:${ids.clinician(0)}`;
    // Reads the clinician's whole list.
    const warmUp = await viewerWith(warm, [clinician]);
    await warmUp(`{ client(id: "${other}") { lastName } }`);
    const held = Promise.withResolvers<void>();
    const meta = { totalItems: 0, totalPages: 0, itemsPerPage: 10, currentPage: 1 };
    const empty = { body: { data: [], meta }, heldUntil: held.promise };
    sandbox.answerNext('GET /clinics/:clinicId/clients', empty);
    clock.advance(200);
    sandbox.completeAssessments(other);
    await sandbox.delivered();
    sandbox.resetCounts();
    const ask = await viewerWith(warm, [clinician, `clinic:${ids.clinic(1)}`]);
    const reading = ask(EVENTS);
    await until(() => sandbox.countOf('GET /clinics/:clinicId/clients') === 1);
    clock.advance(100);
    sandbox.moveClient(joining, ids.clinician(0));
    const [score] = sandbox.completeAssessments(joining);
    await sandbox.delivered();
    clock.advance(140);
    held.resolve();
    expect((await reading).data.events.nodes).toEqual([{ assessmentScoreId: score }]);
  });

  it('decides once the Partner API works again, whatever lists held the client before', async () => {
    const clock = createAdvancingClock();
    await using warm = await openGateway({ clock });
    const ask = await viewerWith(warm, ['partner']);
    await ask(
      `query($id: ID!) { clinician(id: $id) { clients { nodes { id } } }
        organizations { nodes { clinics { nodes { clients { nodes { id } } } } } } }`,
      { id: ids.clinician(0) },
    );
    clock.advance(MINUTE_PAST);
    const listeners = await Promise.all(
      filters().map(([filter]) => listen(warm, ['partner'], LIVE, { filter })),
    );
    warm.sandbox.set({ failureRate: 1 });
    const [score] = warm.sandbox.completeAssessments(ids.client(0));
    await warm.sandbox.delivered();
    for (const [filter] of filters()) warm.sandbox.emit(transcriptReady(filter));
    await warm.sandbox.delivered();
    warm.sandbox.set({ failureRate: 0 });
    const first = await Promise.all(listeners.map(async (each) => (await each.next()).data.events));
    expect(first).toEqual(
      filters().map(([, isMatch]) =>
        isMatch ? { assessmentScoreId: score } : { cursor: expect.any(String) },
      ),
    );
    for (const listener of listeners) listener.close();
  });

  it.each([
    ['', false],
    [', also if a page of it is cached', true],
  ])('reads the list of a clinician without the client once a minute%s', async (_, isCached) => {
    const clock = createAdvancingClock();
    await using cold = await openGateway({ clock });
    const filter = { clinicianId: ids.clinician(1), types: ['ASSESSMENT_COMPLETED'] };
    const ask = await viewerWith(cold, ['partner']);
    const callsFor = async (client: number) => {
      cold.sandbox.completeAssessments(ids.client(client));
      await cold.sandbox.delivered();
      const before = callsTo(cold);
      expect((await ask(EVENTS, { filter })).data.events.nodes).toEqual([]);
      return callsTo(cold) - before;
    };
    const last = 'query($id: ID!) { clinician(id: $id) { clients(last: 1) { nodes { id } } } }';
    if (isCached) await ask(last, { id: ids.clinician(1) });
    const pages = await callsFor(0);
    expect(pages).toBeGreaterThan(1);
    clock.advance(6_000);
    // Page one shows that the length of the list is unchanged.
    expect(await callsFor(2)).toBe(1);
    cold.sandbox.moveClient(ids.client(2), ids.clinician(1));
    clock.advance(6_000);
    expect((await ask(EVENTS, { filter })).data.events.nodes).toHaveLength(1);
  });
});

describe('a session’s event', () => {
  const NOTES = `query($after: EventCursor) { events(first: 100, after: $after, filter: { types: [PROGRESS_NOTE_GENERATED] }) {
    nodes { ... on SessionEvent { session { sessionId progressNote { note } } client { clientId lastName }
      clinician { clinicianId email } clinic { clinicId name clients { totalCount } }
      organization { organizationId name } } } } }`;

  it('returns its session, and of its parents only the ids', async () => {
    const after = await cursorNow(gateway);
    const { sessionId } = gateway.sandbox.startSession(ids.client(3));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const ask = await viewerWith(gateway, [`session:${sessionId}`]);
    const { data, errors } = await ask(NOTES, { after });
    expect(data.events.nodes).toEqual([
      {
        session: { sessionId, progressNote: { note: expect.any(Array) } },
        client: { clientId: ids.client(3), lastName: null },
        clinician: { clinicianId: ids.clinician(3), email: null },
        clinic: { clinicId: ids.clinic(0), name: null, clients: null },
        organization: { organizationId: ids.organization(0), name: null },
      },
    ]);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['NOT_FOUND']);
  });

  it('is delivered by its own ids, even if no list holds the client', async () => {
    const own = { sessionId: randomUUID(), clinicianId: ids.clinician(0), clinicId: ids.clinic(0) };
    const document = 'subscription { transcriptReady { session { sessionId } } }';
    const [ours, theirs] = await Promise.all([
      listen(gateway, [`clinician:${ids.clinician(0)}`], document),
      listen(gateway, [`clinician:${ids.clinician(1)}`], document),
    ]);
    gateway.sandbox.emit(transcriptReady(own));
    await gateway.sandbox.delivered();
    const other = { ...own, sessionId: randomUUID(), clinicianId: ids.clinician(1) };
    gateway.sandbox.emit(transcriptReady(other));
    expect((await ours.next()).data.transcriptReady.session.sessionId).toBe(own.sessionId);
    expect((await theirs.next()).data.transcriptReady.session.sessionId).toBe(other.sessionId);
    ours.close();
    theirs.close();
  });

  it('has in its session’s id the client that the event names', async () => {
    const after = await cursorNow(gateway);
    const { sessionId } = gateway.sandbox.startSession(ids.client(5));
    gateway.sandbox.settle();
    await gateway.sandbox.delivered();
    const document = `query($after: EventCursor) { events(after: $after) { nodes { ... on SessionEvent { session { id } } } } }`;
    const { data } = await gateway.query(document, { after });
    expect(data.events.nodes[0].session.id).toBe(sessionIdOf(gateway, sessionId, ids.client(5)));
  });

  it('is still delivered by its own ids while the Partner API is unavailable', async () => {
    const listener = await listen(
      gateway,
      [`clinician:${ids.clinician(6)}`],
      'subscription { events { __typename ... on SessionEvent { client { clientId } } } }',
    );
    gateway.sandbox.set({ failureRate: 1 });
    using _ = { [Symbol.dispose]: () => gateway.sandbox.set({ failureRate: 0 }) };
    const named = { clientId: ids.client(6), clinicianId: ids.clinician(6) };
    gateway.sandbox.emit(transcriptReady(named));
    expect((await listener.next()).data.events.client.clientId).toBe(ids.client(6));
    listener.close();
  });
});

it('a subscription may name a record that its other ids lead to, without an earlier read', async () => {
  await using cold = await openGateway({ sandbox: gateway.sandbox });
  const filter = { clinicianId: ids.clinician(7), clientId: ids.client(7) };
  const before = callsTo(gateway);
  const after = await cursorNow(cold);
  gateway.sandbox.deliverTo(`${cold.url}/webhooks`);
  const listener = await listen(
    cold,
    [`clinician:${ids.clinician(7)}`],
    `subscription($filter: EventFilter, $after: EventCursor) {
      events(filter: $filter, after: $after) { __typename } }`,
    { filter, after },
  );
  gateway.sandbox.completeAssessments(ids.client(7));
  expect((await listener.next()).data.events).toEqual({ __typename: 'AssessmentCompleted' });
  // One page proves that the client is the clinician’s.
  expect(callsTo(gateway) - before).toBe(1);
  listener.close();
});
