import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { counted, failures } from '../support/graph/counted.ts';

/** What the message of each code says. */
const WORDS: Readonly<Record<string, RegExp>> = {
  UPSTREAM_BAD_RESPONSE: /is malformed, or about another record/,
  UPSTREAM_CREDENTIALS: /does not accept the credentials of this gateway/,
  UPSTREAM_RATE_LIMITED: /^Too many calls to the Partner API/,
  UPSTREAM_ROUTE: /does not know the route/,
};

/** In the body of every failing response: no client may receive it. */
const UPSTREAM_TEXT = 'canary-of-upstream';

let gateway: Gateway;
const lines: string[] = [];
let sandbox: Gateway['sandbox'];
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(line) });
  ({ sandbox } = gateway);
  ({ ids } = sandbox);
});
afterAll(() => gateway.close());

const failing = { status: 500, body: { error: { message: UPSTREAM_TEXT } } };

describe('a failing part', () => {
  it('does not affect the rest of the result', async () => {
    sandbox.answerNext('/sessions/:id/transcript', { ...failing, times: 3 });
    const answer = await counted(
      gateway,
      `{ session(id: "${ids.session(1, 1)}") { sessionId progressNote { isLoading } transcript { id } mdm { risk } } }`,
    );
    expect(answer.data.session).toMatchObject({
      progressNote: { isLoading: false },
      transcript: null,
      mdm: { risk: expect.anything() },
    });
    expect(failures(answer)).toEqual(['session.transcript: UPSTREAM_UNAVAILABLE']);
    expect(answer.extensions.upstream).toMatchObject({ calls: 5, retried: 2 });
    expect(JSON.stringify(answer.errors)).not.toContain(UPSTREAM_TEXT);
  });

  it('has its errors in the order of the rows, whichever row failed first', async () => {
    const refused = { ...failing, status: 403 };
    const held = Promise.withResolvers<void>();
    const route = '/sessions/:id/progress-note';
    sandbox.answerNext(route, { ...refused, heldUntil: held.promise, times: 1 });
    sandbox.answerNext(route, { ...refused, times: 2 });
    sandbox.resetCounts();
    const answering = gateway.query(
      `{ client(id: "${ids.client(4)}") { sessions(first: 3) { nodes { progressNote { isLoading } } } } }`,
    );
    await expect.poll(() => sandbox.countOf(route)).toBe(3);
    await expect.poll(openCalls).toBe(1);
    held.resolve();
    const answer = await answering;
    expect(answer.errors?.map(({ path }) => path?.[3])).toEqual([0, 1, 2]);
  });

  it('is one note of a whole list', async () => {
    sandbox.answerNext('/sessions/:id/progress-note', { ...failing, times: 1, status: 403 });
    const answer = await counted(
      gateway,
      `{ client(id: "${ids.client(5)}") { sessions(first: 10) { nodes { progressNote { isLoading } } } } }`,
    );
    const notes = answer.data.client.sessions.nodes.filter(
      ({ progressNote }: { progressNote: unknown }) => progressNote !== null,
    );
    expect([notes.length, answer.errors?.length]).toEqual([9, 1]);
    expect(answer.errors?.[0]?.path).toEqual([
      'client',
      'sessions',
      'nodes',
      expect.any(Number),
      'progressNote',
    ]);
  });

  it('fails its list if it is one of its pages, and no other', async () => {
    sandbox.answerNext('/clinics/:id/clients', { status: 200, rawBody: '<html>' });
    const answer = await counted(
      gateway,
      `{ clinic(id: "${ids.clinic(1)}") { clients(first: 25) { nodes { email } } clinicians(first: 2) { totalCount } } }`,
    );
    expect(answer.data.clinic).toEqual({ clients: null, clinicians: { totalCount: 12 } });
    expect(failures(answer)).toEqual(['clinic.clients: UPSTREAM_BAD_RESPONSE']);
    const again = await counted(
      gateway,
      `{ clinic(id: "${ids.clinic(1)}") { clients(first: 25) { nodes { email } } } }`,
    );
    expect(again.data.clinic.clients.nodes).toHaveLength(25);
  });

  it.each([
    ['a refused key', { status: 403, body: { message: 'Forbidden' } }, 'UPSTREAM_CREDENTIALS'],
    [
      'a missing route',
      { status: 403, body: { message: 'Missing Authentication Token' } },
      'UPSTREAM_ROUTE',
    ],
    ['a page of HTML', { status: 403, rawBody: `<p>${UPSTREAM_TEXT}` }, 'UPSTREAM_BAD_RESPONSE'],
    ['half an answer', { status: 200, rawBody: '{"isLoading":tr' }, 'UPSTREAM_BAD_RESPONSE'],
    ['another shape', { status: 200, body: { text: UPSTREAM_TEXT } }, 'UPSTREAM_BAD_RESPONSE'],
    [
      'a limit',
      { status: 429, headers: { 'retry-after': '3600' }, body: { message: UPSTREAM_TEXT } },
      'UPSTREAM_RATE_LIMITED',
    ],
    [
      'a redirect',
      { status: 302, headers: { location: 'http://127.0.0.1:9/' } },
      'UPSTREAM_BAD_RESPONSE',
    ],
  ])('by %s: has an error code, and nothing of the cause', async (_name, answerOf, code) => {
    sandbox.answerNext('/progress-notes/:id', answerOf);
    const answer = await counted(
      gateway,
      `{ progressNote(id: "${ids.note(9, 0)}") { id } viewer { subject } }`,
    );
    expect(answer.data).toEqual({ progressNote: null, viewer: { subject: 'tester' } });
    expect([failures(answer), answer.calls]).toEqual([[`progressNote: ${code}`], 1]);
    expect(answer.errors?.[0]?.message).toMatch(WORDS[code]!);
    expect(JSON.stringify(answer.errors)).not.toMatch(
      new RegExp(`${UPSTREAM_TEXT}|${ids.note(9, 0)}|http:`),
    );
  });

  it('by a rejected filter: returns the Partner API’s reasons to the caller', async () => {
    const message = { message: ['externalId is odd'], error: 'Bad Request', statusCode: 400 };
    sandbox.answerNext('/clinics/:id/clients', {
      status: 400,
      body: { error: { type: 'X', message, statusCode: 400 } },
    });
    const answer = await counted(
      gateway,
      `{ clinic(id: "${ids.clinic(2)}") { clients(filter: { externalId: "odd" }) { totalCount } } }`,
    );
    expect(answer.errors?.[0]?.extensions).toEqual({
      code: 'BAD_USER_INPUT',
      issues: ['externalId is odd'],
      requestId: expect.any(String),
    });
  });
});

describe('a failed call', () => {
  const REGENERATE = `mutation($id: ID!) {
    regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }`;
  const failed = () => lines.filter((line) => line.includes('a call to the Partner API failed'));

  it('is logged with its code, route and request, once in 10 s for each code and route', async () => {
    const query = `{ session(id: "${ids.session(3, 1)}") { mdm { id } } }`;
    for (const requestId of ['r-1', 'r-2']) {
      sandbox.answerNext('/sessions/:id/mdm', { status: 200, rawBody: `<p>${UPSTREAM_TEXT}` });
      await gateway.query(query, {}, { 'x-request-id': requestId });
    }
    sandbox.answerNext('POST /progress-notes/:id/regenerate', failing);
    await gateway.query(REGENERATE, { id: ids.note(3, 1) }, { 'x-request-id': 'r-3' });
    const [route, write] = [
      '/sessions/:sessionId/mdm',
      '/progress-notes/:progressNoteId/regenerate',
    ];
    const logged = failed().filter((line) => line.includes('"r-'));
    expect(logged.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'warn',
        code: 'UPSTREAM_BAD_RESPONSE',
        route,
        reason: `${route}: wanted JSON, but got something else`,
        requestId: 'r-1',
      },
      { code: 'OUTCOME_UNKNOWN', reason: `${write}: answered with status 500`, requestId: 'r-3' },
    ]);
    expect(logged.join('')).not.toMatch(new RegExp(`${UPSTREAM_TEXT}|${ids.session(3, 1)}`));
  });

  it('is not logged if it is about the request: a missing record, a lock, invalid input', async () => {
    const before = failed().length;
    const refusals = [
      { status: 404 },
      { status: 403, body: { error: { message: 'Progress note is locked' } } },
      { status: 400, body: { error: { message: 'no' } } },
    ];
    for (const refusal of refusals) {
      sandbox.answerNext('POST /progress-notes/:id/regenerate', refusal);
      await gateway.query(REGENERATE, { id: ids.note(3, 2) });
    }
    expect(sandbox.countOf('POST /progress-notes/:id/regenerate')).toBeGreaterThan(2);
    expect(failed()).toHaveLength(before);
  });
});

describe('an operation that takes too long', () => {
  let hasty: Gateway;
  beforeAll(async () => {
    const env = { LIMIT_OPERATION_MS: '1000', PARTNER_TIMEOUT_MS: '15000' };
    hasty = await openGateway({ sandbox, env, onLog: (line) => lines.push(line) });
  });
  afterAll(() => hasty.close());

  it('ends with TIMEOUT while a subscription is opened', async () => {
    sandbox.set({ hang: ['/clinics/:clinicId/clients', '/clinicians/:clinicianId/clients'] });
    const response = await fetch(`${hasty.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await tokenFor([`clinic:${ids.clinic(1)}`])}`,
      },
      body: JSON.stringify({
        query: 'subscription($id: ID!) { events(filter: { clientId: $id }) { cursor } }',
        variables: { id: ids.client(5) },
      }),
    });
    expect(await response.text()).toContain('"code":"TIMEOUT"');
    sandbox.set({ hang: [] });
  });

  it('ends with TIMEOUT, keeps the fields it has, and aborts its calls', async () => {
    const fields = (more: string) =>
      `{ session(id: "${ids.session(1, 2)}") { progressNote { isLoading } ${more} } }`;
    // From now on the note is cached: only what hangs takes time.
    await expect.poll(async () => (await hasty.query(fields(''))).errors).toBeUndefined();
    sandbox.set({ hang: ['/sessions/:sessionId/mdm'] });
    const answer = await counted(hasty, fields('mdm { id }'));
    expect(answer.data.session).toEqual({ progressNote: { isLoading: false }, mdm: null });
    expect(failures(answer)).toEqual(['session.mdm: TIMEOUT']);
    expect(lines.filter((line) => /"warn".*TIMEOUT/.test(line))).toEqual([]);
    await expect.poll(openCalls).toBe(0);
    sandbox.set({ hang: [] });
  });
});

const asking = (session: string) =>
  JSON.stringify({ query: `{ session(id: "${session}") { transcript { id } } }` });

async function ask({ url }: Gateway, session: string, signal: AbortSignal): Promise<unknown> {
  const headers = {
    'content-type': 'application/json',
    'x-request-id': session,
    authorization: `Bearer ${await tokenFor(['partner'])}`,
  };
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers,
    body: asking(session),
    signal,
  });
}

describe('a client that disconnects', () => {
  /** No limit of time ends its calls before the test has seen that the client does. */
  let patient: Gateway;
  beforeAll(async () => {
    const env = { LIMIT_OPERATION_MS: '60000', PARTNER_TIMEOUT_MS: '15000' };
    patient = await openGateway({ sandbox, env, onLog: (line) => lines.push(line) });
  });
  afterAll(() => patient.close());

  it('aborts its calls', async () => {
    sandbox.resetCounts();
    sandbox.answerNext('/sessions/:id/transcript', { hang: true });
    const gone = new AbortController();
    const answer = ask(patient, ids.session(2, 2), gone.signal);
    await expect.poll(openCalls).toBe(1);
    gone.abort();
    await expect(answer).rejects.toThrow('aborted');
    await expect.poll(openCalls).toBe(0);
  });

  it('does not abort a call that others share', async () => {
    sandbox.resetCounts();
    const answer = Promise.withResolvers<void>();
    sandbox.answerNext('/sessions/:id/transcript', {
      heldUntil: answer.promise,
      body: { transcriptItems: [] },
    });
    const gone = new AbortController();
    const first = ask(patient, ids.session(2, 3), gone.signal);
    await expect.poll(() => sandbox.countOf('/sessions/:id/transcript')).toBe(1);
    const second = patient.query(
      `{ session(id: "${ids.session(2, 3)}") { transcript { id } mdm { id } } }`,
    );
    // Called after it has joined the call above.
    await expect.poll(() => sandbox.countOf('/sessions/:id/mdm')).toBe(1);
    gone.abort();
    await expect(first).rejects.toThrow('aborted');
    await expect.poll(() => hasEnded(ids.session(2, 3))).toBe(true);
    answer.resolve();
    const { data, extensions } = await second;
    expect(data.session.transcript).toEqual({ id: expect.any(String) });
    expect(extensions.upstream).toMatchObject({ coalesced: 1 });
    expect(sandbox.countOf('/sessions/:id/transcript')).toBe(1);
  });
});

const hasEnded = (requestId: string): boolean =>
  lines.some((line) => line.includes('"operation"') && line.includes(requestId));

/** The sandbox counts the most concurrent calls since a reset, and starts from those still open. */
function openCalls(): number {
  sandbox.resetCounts();
  return sandbox.mostAtOnce();
}
