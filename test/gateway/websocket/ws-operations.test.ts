import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { countOf } from '../../support/mutation/edits.ts';
import { type RawSocket, dialIn, subscribe, until } from '../../support/ws/raw-socket.ts';

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

  it('a query that its client completes is logged as client left, as over HTTP, and not as too slow', async () => {
    using socket = await dialIn(gateway);
    const leave = new AbortController();
    const query = `query Left { progressNote(id: "${gateway.sandbox.ids.note(2, 0)}") { note } }`;
    const outcomes = () =>
      lines
        .map((line) => JSON.parse(line))
        .filter(({ name }) => name === 'Left')
        .map(({ outcome }) => outcome);
    gateway.sandbox.set({ hang: ['GET /progress-notes/:progressNoteId'] });
    const called = () => gateway.sandbox.countOf('GET /progress-notes/:id');
    const before = called();
    socket.send(subscribe('1', query));
    await until(() => called() > before);
    socket.send({ id: '1', type: 'complete' });
    await until(() => outcomes().length === 1);
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const left = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: JSON.stringify({ query }),
      signal: leave.signal,
    });
    await until(() => called() > before + 1);
    leave.abort();
    await expect(left).rejects.toThrow();
    await until(() => outcomes().length === 2);
    gateway.sandbox.set({ hang: [] });
    expect(outcomes()).toEqual(['client left', 'client left']);
  });

  it('an answer of several megabytes is sent to its end', async () => {
    using socket = await dialIn(gateway);
    // Of one call: hundreds may take longer than an operation may.
    const body = { isLoading: false, note: ['x'.repeat(2 ** 20)] };
    gateway.sandbox.answerNext('GET /progress-notes/:progressNoteId', { body });
    const copies = Array.from({ length: 6 }, (_, i) => `note${i}: note`).join(' ');
    const large = `{ progressNote(id: "${gateway.sandbox.ids.note(9, 0)}") { ${copies} } }`;
    const answer = await answerTo(socket, large);
    expect(JSON.stringify(answer).length).toBeGreaterThan(6_000_000);
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
    expect(countOf(gateway, 'magicEdit')).toBe(1);
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

  it('clinician tokens are not issued', async () => {
    using socket = await dialIn(gateway);
    const { payload } = await answerTo(
      socket,
      `mutation { authenticateClinician(input: { clinicianId: "${gateway.sandbox.ids.clinician(0)}" }) { __typename } }`,
    );
    expect(payload.errors[0].message).toContain('HTTP only');
    expect(gateway.sandbox.countOf('POST /clinicians/:id/authenticate')).toBe(0);
  });
});
