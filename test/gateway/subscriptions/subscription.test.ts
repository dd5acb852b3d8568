import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { clientOf, cursorNow, subscribeTo } from '../../support/ws/graphql-client.ts';
import { dialIn, gauge, subscribe, subscribed, until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ env: { LIMIT_SOCKETS_PER_VIEWER: '1000' } });
});
afterAll(() => gateway.close());

/** A session that gets its transcript and its note: transcript_ready, progress_note_generated. */
function generateNote(client: number) {
  const session = gateway.sandbox.startSession(gateway.sandbox.ids.client(client), {
    prescriber: false,
  });
  gateway.sandbox.settle();
  return session;
}

const openSubscription = async (
  query: string,
  token?: string,
  variables: Record<string, unknown> = {},
) =>
  subscribeTo(clientOf(gateway, token), query, { after: await cursorNow(gateway), ...variables });

const NOTE_READY = `subscription($after: EventCursor, $filter: EventFilter) {
  noteReady(after: $after, filter: $filter) {
    cursor type session { sessionId } progressNote { progressNoteId isLoading note } } }`;

describe('an event', () => {
  it('is delivered once, with the current note', async () => {
    await using results = await openSubscription(NOTE_READY);
    const { sessionId } = generateNote(0);
    const { data, errors } = await results.next();
    expect(errors).toBeUndefined();
    expect(data.noteReady).toMatchObject({
      type: 'PROGRESS_NOTE_GENERATED',
      session: { sessionId },
      progressNote: { progressNoteId: gateway.sandbox.noteIdOf(sessionId), isLoading: false },
    });
    expect(data.noteReady.progressNote.note.length).toBeGreaterThan(0);
    const { sessionId: second } = generateNote(0);
    expect((await results.next()).data.noteReady.session.sessionId).toBe(second);
  });

  it('is delivered once, however often the sender repeats it', async () => {
    await using results = await openSubscription(NOTE_READY);
    const { sessionId } = generateNote(0);
    const sent = gateway.sandbox.events.findLast(
      ({ eventType }) => eventType === 'progress_note_generated',
    );
    for (let i = 0; i < 5; i += 1) gateway.sandbox.emit(sent!);
    // Webhooks are sent in parallel, and stored in the order of their arrival.
    await gateway.sandbox.delivered();
    const { sessionId: second } = generateNote(1);
    const got = await results.take(2);
    expect(got.map(({ data }) => data.noteReady.session.sessionId)).toEqual([sessionId, second]);
  });

  it('is executed once for all identical subscriptions', async () => {
    const count = 20;
    const after = await cursorNow(gateway);
    const tokens = await Promise.all(
      Array.from({ length: count }, (_, i) => tokenFor(['partner'], { subject: `viewer-${i}` })),
    );
    const all = tokens.map((token) => subscribeTo(clientOf(gateway, token), NOTE_READY, { after }));
    generateNote(0);
    await Promise.all(all.map((each) => each.next()));
    gateway.sandbox.resetCounts();
    generateNote(1);
    const results = await Promise.all(all.map((each) => each.next()));
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
    expect(gateway.sandbox.countOf('GET /progress-notes/:progressNoteId')).toBe(1);
    expect(gateway.sandbox.countOf()).toBe(1);
    await Promise.all(all.map((each) => each[Symbol.asyncDispose]()));
  });

  it('is executed separately for two operations of one document', async () => {
    const query = `
      subscription Type($after: EventCursor) { noteReady(after: $after) { type } }
      subscription Session($after: EventCursor) { noteReady(after: $after) { session { sessionId } } }`;
    const variables = { after: await cursorNow(gateway) };
    const { sessionId } = generateNote(0);
    const client = clientOf(gateway);
    const results = ['Type', 'Session'].map((operationName) =>
      client.iterate({ query, operationName, variables }).next(),
    );
    expect((await Promise.all(results)).map(({ value }) => value.data)).toEqual([
      { noteReady: { type: 'PROGRESS_NOTE_GENERATED' } },
      { noteReady: { session: { sessionId } } },
    ]);
    await client.dispose();
  });
});

describe('the one field of a subscription', () => {
  const READY = 'noteReady(after: $after)';

  it.each([
    ['an inline fragment', `{ ... on Subscription { ... { ${READY} { type } } } }`],
    ['a fragment', `{ ...F } fragment F on Subscription { ${READY} { type } }`],
    ['two places', `{ ${READY} { type } ... { ${READY} { cursor } } }`],
  ])('may be in %s', async (_, selection) => {
    await using results = await openSubscription(`subscription($after: EventCursor) ${selection}`);
    generateNote(0);
    expect((await results.next()).data.noteReady.type).toBe('PROGRESS_NOTE_GENERATED');
  });
});

describe('a filter', () => {
  const EVENTS = `subscription($after: EventCursor, $filter: EventFilter) {
    events(after: $after, filter: $filter) { type ... on SessionEvent { session { sessionId } } } }`;

  it('delivers events that match all of it', async () => {
    const { ids } = gateway.sandbox;
    await using results = await openSubscription(EVENTS, undefined, {
      filter: { clientId: ids.client(1), types: ['PROGRESS_NOTE_GENERATED'] },
    });
    generateNote(0);
    const { sessionId } = generateNote(1);
    generateNote(2);
    await gateway.sandbox.delivered();
    const { sessionId: second } = generateNote(1);
    const got = await results.take(2);
    expect(got.map(({ data }) => data.events)).toEqual([
      { type: 'PROGRESS_NOTE_GENERATED', session: { sessionId } },
      { type: 'PROGRESS_NOTE_GENERATED', session: { sessionId: second } },
    ]);
  });

  it('delivers what arrives while the access to the filtered record is proven', async () => {
    const { sandbox } = gateway;
    const [clinic, id] = [sandbox.ids.clinic(0), sandbox.ids.clinician(0)];
    const route = 'GET /clinics/:clinicId/clinicians';
    const held = Promise.withResolvers<void>();
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    sandbox.answerNext(route, { heldUntil: held.promise, body: { data: [{ id }], meta } });
    const before = sandbox.countOf(route);
    const token = await tokenFor([`clinic:${clinic}`]);
    const filter = { clinicianId: id };
    await using results = subscribeTo(clientOf(gateway, token), NOTE_READY, { filter });
    await until(() => sandbox.countOf(route) > before);
    const { sessionId } = generateNote(0);
    await sandbox.delivered();
    held.resolve();
    expect((await results.next()).data.noteReady.session).toEqual({ sessionId });
  });

  it('rejects an invalid id, and does not echo it', async () => {
    await using results = await openSubscription(EVENTS, undefined, {
      filter: { clientId: 'secret-value' },
    });
    const refused = await results.next().catch((error: unknown) => error);
    expect(refused).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(JSON.stringify(refused)).not.toContain('secret-value');
  });
});

describe('an error', () => {
  it('of a field is at its path, and the next event is delivered', async () => {
    await using results = await openSubscription(NOTE_READY);
    gateway.sandbox.answerNext('GET /progress-notes/:progressNoteId', {
      status: 400,
      body: { error: { message: 'Patient Jane Roe is unknown' } },
    });
    generateNote(0);
    const { errors } = await results.next();
    expect(errors).toHaveLength(1);
    generateNote(0);
    expect((await results.next()).errors).toBeUndefined();
  });

  it('ends a subscription at the time limit of an operation if the Partner API hangs', async () => {
    const env = { LIMIT_OPERATION_MS: '100', PARTNER_TIMEOUT_MS: '15000' };
    await using own = await openGateway({ env });
    const { ids } = own.sandbox;
    own.sandbox.answerNext('GET /clinics/:clinicId/clients', { hang: true });
    const query = `subscription { events(filter: { clientId: "${ids.client(0)}" }) { type } }`;
    const token = await tokenFor([`clinic:${ids.clinic(0)}`]);
    await using results = subscribeTo(clientOf(own, token), query);
    await expect(results.next()).rejects.toMatchObject([{ extensions: { code: 'TIMEOUT' } }]);
  });
});

describe('one webhook', () => {
  it('makes no more calls for fifty heavy subscriptions of one socket than one operation may, and each gets its event', async () => {
    // For machines that are busy with other work. The limit of calls is the default.
    const env = { LIMIT_OPERATION_MS: '60000', PARTNER_TIMEOUT_MS: '15000' };
    await using own = await openGateway({ env });
    const { sandbox } = own;
    using socket = await dialIn(own);
    // Each reads other clients of the list, and needs some 70 calls.
    const heavy = `subscription($after: String) { transcriptReady { type session { client { clinic {
      clients(first: 8, after: $after) { nodes { sessions(first: 14) { nodes { progressNote { isLoading } } } } } } } } } }`;
    const next = `query($clinic: ID!, $after: String) { clinic(id: $clinic) {
      clients(first: 8, after: $after) { pageInfo { endCursor } } } }`;
    const clinic = sandbox.ids.clinic(0);
    let after: string | undefined;
    for (let i = 0; i < 50; i += 1) {
      socket.send(subscribe(`${i}`, heavy, { after }));
      after = (await own.query(next, { clinic, after })).data.clinic.clients.pageInfo.endCursor;
    }
    await until(async () => (await gauge(own, 'gateway_subscriptions')) === 50);
    sandbox.resetCounts();
    sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    await until(() => socket.untaken.length === 50);
    expect(sandbox.countOf()).toBe(1_000);
    expect(new Set(socket.untaken.map(({ id }) => id)).size).toBe(50);
    const results = socket.untaken.map(({ payload }) => payload);
    for (const { data } of results) expect(data.transcriptReady.type).toBe('TRANSCRIPT_READY');
    const errors = results.flatMap((result) => result.errors ?? []);
    expect(errors[0].extensions).toMatchObject({ code: 'QUERY_TOO_EXPENSIVE', limit: 1_000 });
  });

  it('makes no more calls for an execution that begins while an earlier one still waits', async () => {
    const env = { OPERATION_MAX_UPSTREAM_CALLS: '1', LIMIT_OPERATION_MS: '60000' };
    await using narrow = await openGateway({ env });
    const { sandbox } = narrow;
    const after = await cursorNow(narrow);
    sandbox.finalize(sandbox.ids.note(0, 0));
    await sandbox.delivered();
    sandbox.resetCounts();
    const held = Promise.withResolvers<void>();
    const body = { isLoading: false, note: [] };
    sandbox.answerNext('GET /progress-notes/:progressNoteId', { heldUntil: held.promise, body });
    using socket = await dialIn(narrow);
    const resume = (id: string, selection: string) => {
      const query = `subscription($after: EventCursor) { noteFinalized(after: $after) { ${selection} } }`;
      socket.send(subscribe(id, query, { after }));
    };
    resume('first', 'progressNote { note }');
    await until(() => sandbox.countOf('GET /progress-notes/:progressNoteId') === 1);
    // Within the time limit of an operation.
    const now = performance.now.bind(performance);
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => now() + 30_000);
    resume('second', 'clinic { clients { totalCount } }');
    const second = await socket.next();
    expect(second).toMatchObject({ id: 'second', payload: { data: { noteFinalized: {} } } });
    expect(second.payload.errors?.[0].extensions.code).toBe('QUERY_TOO_EXPENSIVE');
    held.resolve();
    const first = await socket.next();
    expect(first).toMatchObject({
      id: 'first',
      payload: { data: { noteFinalized: { progressNote: { note: [] } } } },
    });
    expect(sandbox.countOf('GET /clinics/:clinicId/clients')).toBe(0);
  });

  it('makes calls for one viewer although another of the same grants has used up theirs', async () => {
    await using narrow = await openGateway({ env: { OPERATION_MAX_UPSTREAM_CALLS: '5' } });
    const after = (await narrow.query('{ eventCursor }')).data.eventCursor;
    narrow.sandbox.finalize(narrow.sandbox.ids.note(0, 0));
    await narrow.sandbox.delivered();
    const errorsOf = async (subject: string, selection: string) => {
      using socket = await dialIn(narrow, await tokenFor(['partner'], { subject }));
      const query = `subscription($after: EventCursor) { noteFinalized(after: $after) { ${selection} } }`;
      socket.send(subscribe('1', query, { after }));
      return (await socket.next()).payload.errors;
    };
    expect(await errorsOf('anna', 'clinic { clients(first: 100) { nodes { id } } }')).toHaveLength(
      1,
    );
    expect(await errorsOf('bea', 'progressNote { note }')).toBeUndefined();
  });

  it('has the calls of an operation to itself, however soon after another of its client it comes', async () => {
    await using narrow = await openGateway({ env: { OPERATION_MAX_UPSTREAM_CALLS: '1' } });
    const { ids, finalize } = narrow.sandbox;
    using socket = await dialIn(narrow, await tokenFor(['partner']));
    await subscribed(
      narrow,
      socket,
      '1',
      'subscription { noteFinalized { progressNote { note } } }',
    );
    for (const nth of [0, 1]) {
      finalize(ids.note(0, nth));
      expect((await socket.next()).payload.errors).toBeUndefined();
    }
  });
});
