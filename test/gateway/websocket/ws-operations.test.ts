import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import {
  type RawSocket,
  dialIn,
  subscribe,
  subscribed,
  until,
} from '../../support/ws/raw-socket.ts';

const lines: string[] = [];
let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
});
afterAll(() => gateway.close());
beforeEach(() => {
  lines.length = 0;
});

/** The result of a query or a mutation. */
async function answerTo(socket: RawSocket, query: string, variables?: object) {
  socket.send(subscribe('1', query, variables));
  const answer = await socket.next();
  if (answer.type === 'next') expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
  return answer;
}

const audited = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');

describe('over WebSocket', () => {
  it('a query is answered as over HTTP, and audited', async () => {
    using socket = await dialIn(gateway);
    const id = gateway.sandbox.ids.note(0, 0);
    const query = 'query Note($id: ID!) { progressNote(id: $id) { progressNoteId note } }';
    const { type, payload } = await answerTo(socket, query, { id });
    const { data } = await gateway.query(query, { id });
    expect([type, payload.data]).toEqual(['next', data]);
    expect(payload.extensions.upstream).toMatchObject({ estimated: 1, calls: 1 });
    expect(audited()[0]).toMatchObject({ outcome: 'read', records: [`ProgressNote:${id}`] });
  });

  it('an answer of several megabytes is sent to its end', async () => {
    using socket = await dialIn(gateway);
    const notes = Array.from({ length: 15 }, (_, i) => `note${i}: note raw${i}: raw`);
    const large = `{ clinic(id: "${gateway.sandbox.ids.clinic(0)}") { clients(first: 100) { nodes {
      sessions(first: 3) { nodes { progressNote { ${notes.join(' ')} } } } } } } }`;
    const answer = await answerTo(socket, large);
    expect(JSON.stringify(answer).length).toBeGreaterThan(5_000_000);
  });

  it('a mutation is sent once for one idempotency key, over HTTP and WebSocket', async () => {
    using socket = await dialIn(gateway);
    const edit = `mutation($id: ID!) { magicEdit(input: {
      progressNoteId: $id, userInstructions: "Shorter.", idempotencyKey: "once" }) { is: __typename } }`;
    gateway.sandbox.resetCounts();
    const id = gateway.sandbox.ids.note(1, 0);
    const { payload } = await answerTo(socket, edit, { id });
    const { data } = await gateway.query(edit, { id });
    expect(payload.data.magicEdit.is).toBe('ProgressNoteChange');
    expect(data).toEqual(payload.data);
    expect(gateway.sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it('the error of a field is at its path', async () => {
    using socket = await dialIn(gateway);
    const { type, payload } = await answerTo(socket, '{ node(id: "x") { id } viewer { subject } }');
    expect(type).toBe('next');
    expect(payload.errors).toMatchObject([
      { path: ['node'], extensions: { code: 'BAD_USER_INPUT' } },
    ]);
    expect(payload.data.viewer).toEqual({ subject: 'tester' });
  });

  it('an operation over the cost limit is rejected, and so is one for clinician tokens', async () => {
    using socket = await dialIn(gateway);
    const rows = 'nodes { clinics(first: 100) { nodes { clients(first: 100) { nodes { id } } } } }';
    const costly = await answerTo(socket, `{ organizations(first: 100) { ${rows} } }`);
    expect(costly).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'QUERY_TOO_EXPENSIVE' } }],
    });
    const { payload } = await answerTo(
      socket,
      `mutation { authenticateClinician(input: { clinicianId: "${gateway.sandbox.ids.clinician(0)}" }) { __typename } }`,
    );
    expect(payload.errors[0].message).toContain('HTTP only');
    expect(gateway.sandbox.countOf('POST /clinicians/:id/authenticate')).toBe(0);
  });
});

describe('a message to a client', () => {
  it('names no route of the Partner API', async () => {
    const { note } = gateway.sandbox.ids;
    for (const status of [400, 403, 409, 500, 503]) {
      const answer = { status, body: { error: { message: 'no' } } };
      for (let i = 0; i < 3; i += 1)
        gateway.sandbox.answerNext('GET /progress-notes/:progressNoteId', answer);
      const id = note(20 + Math.round(status / 100), status % 2);
      const { errors } = await gateway.query('query($id: ID!) { progressNote(id: $id) { note } }', {
        id,
      });
      expect(errors?.[0]?.message).toMatch(/^[A-Z][^/]*\.$/);
    }
  });
});

describe('one webhook', () => {
  const LIMIT = 40;
  const SUBSCRIPTIONS = 5;

  it('makes no more calls for a viewer than one operation may, and every subscription gets its event', async () => {
    await using narrow = await openGateway({
      env: { OPERATION_MAX_UPSTREAM_CALLS: String(LIMIT) },
    });
    const { ids } = narrow.sandbox;
    using socket = await dialIn(narrow, await tokenFor(['partner']));
    const heavy = (i: number) => `subscription { transcriptReady { session { client { clinic {
      clients(first: ${50 + i}) { nodes { sessions(first: 10) { nodes { progressNote { note } } } } } } } } } }`;
    for (let i = 0; i < SUBSCRIPTIONS; i += 1)
      await subscribed(narrow, socket, String(i), heavy(i));
    const reads = () => narrow.sandbox.requests.filter(({ method }) => method === 'GET').length;
    const before = reads();
    narrow.sandbox.startSession(ids.client(0), { prescriber: false });
    narrow.sandbox.settle();
    await until(() => socket.untaken.length === SUBSCRIPTIONS);
    expect(reads() - before).toBeLessThanOrEqual(LIMIT);
    const codes = socket.untaken.flatMap(({ payload }) =>
      (payload.errors ?? []).map((error: { extensions: object }) => error.extensions),
    );
    expect(codes).toContainEqual(
      expect.objectContaining({ code: 'QUERY_TOO_EXPENSIVE', limit: LIMIT }),
    );
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
