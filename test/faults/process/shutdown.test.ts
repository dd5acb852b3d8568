import { type EventEmitter, once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type Socket, connect } from 'node:net';

import { describe, expect, it } from 'vitest';

import type { ServerProcess } from '../../support/faults/process/process.ts';
import { NO_LOSSES, type Deployment, openDeployment } from '../../support/faults/deployment.ts';
import { tokenFor } from '../../support/gateway.ts';
import { dialIn, subscribe, until } from '../../support/ws/raw-socket.ts';

/** The exit code, and whether the process exited in time. */
async function endingOf(server: ServerProcess, withinMs = 15_000) {
  const began = performance.now();
  const { code } = await server.exited;
  return { code, inTime: performance.now() - began < withinMs };
}

/** Resolves once the server has begun to shut down. For a second it still listens. */
const closing = ({ stdout }: ServerProcess) =>
  until(() => stdout.some((line) => line.includes('SIGTERM: closing')), 10);

/** Starts a query that the Partner API answers slowly. Resolves while it runs. */
async function beginSlowQuery({ server, sandbox }: Deployment, latencyMs: number) {
  // Obtains the partner token, so that the first call is the query's own.
  expect((await server.ready()).status).toBe(200);
  sandbox.set({ latencyMs });
  sandbox.resetCounts();
  const answer = server.query('{ organizations { totalCount } }');
  await until(() => sandbox.countOf('GET /organizations') > 0);
  return { answer };
}

const dial = ({ url }: ServerProcess): Socket =>
  connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);

const first = async <T>(emitter: EventEmitter, event: string): Promise<T> =>
  (await once(emitter, event))[0];

describe.concurrent('SIGTERM', { timeout: 120_000 }, () => {
  it('shuts down in order, sent once or twice: not ready, requests answered, sockets closed with 1001, nothing lost', async () => {
    await using deployment = await openDeployment();
    const { follower, settle } = await deployment.load();
    const slow = await beginSlowQuery(deployment, 2_000);
    const { server } = deployment;
    server.signal('SIGTERM');
    await closing(server);
    const { status, text } = await server.ready();
    expect([status, text]).toEqual([503, expect.stringContaining('"serving":false')]);
    server.signal('SIGTERM');
    expect((await slow.answer).data.organizations.totalCount).toBeGreaterThan(0);
    expect(await endingOf(server)).toEqual({ code: 0, inTime: true });
    expect(server.stderr()).toBe('');
    await deployment.start();
    expect(await settle()).toEqual(NO_LOSSES);
    expect(follower.closeCodes[0]).toBe(1001);
  });

  it('closes every connection, waits for no idle one, and accepts no new socket', async () => {
    await using deployment = await openDeployment();
    const { server } = deployment;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const get = async () => {
      const sent = request(`${server.url}/healthz`, { agent }).end();
      return (await first<IncomingMessage>(sent, 'response')).resume();
    };
    expect((await get()).headers.connection).toBe('keep-alive');
    await first(dial(server), 'connect');
    const socket = dial(server);
    await first(socket, 'connect');
    server.signal('SIGTERM');
    await closing(server);
    const last = await get();
    expect([last.statusCode, last.headers.connection]).toEqual([200, 'close']);
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    socket.write(`GET /graphql HTTP/1.1\r\nHost: a\r\n${upgrade}\r\n`);
    expect(String(await first(socket, 'data'))).toMatch(/^HTTP\/1.1 503/);
    expect(await endingOf(server, 8_000)).toEqual({ code: 0, inTime: true });
  });

  it('waits ten seconds for a query over WebSocket, and then closes its socket with 1001 too', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    using socket = await dialIn(server);
    expect((await server.ready()).status).toBe(200);
    sandbox.set({ latencyMs: 20_000 });
    sandbox.resetCounts();
    socket.send(subscribe('1', '{ organizations { totalCount } }'));
    await until(() => sandbox.countOf('GET /organizations') > 0);
    server.signal('SIGTERM');
    const began = performance.now();
    expect((await socket.closed).code).toBe(1001);
    expect(performance.now() - began).toBeGreaterThan(9_000);
    expect(await endingOf(server)).toEqual({ code: 0, inTime: true });
  });

  it('followed by SIGINT ends the process immediately, with nothing lost', async () => {
    await using deployment = await openDeployment();
    const { settle } = await deployment.load();
    const slow = await beginSlowQuery(deployment, 20_000);
    const cutOff = expect(slow.answer).rejects.toThrow('fetch failed');
    deployment.server.signal('SIGTERM');
    await closing(deployment.server);
    deployment.server.signal('SIGINT');
    expect(await endingOf(deployment.server, 8_000)).toEqual({ code: 1, inTime: true });
    await cutOff;
    await deployment.start();
    expect(await settle()).toEqual(NO_LOSSES);
  });
});

const EDIT = `mutation ($input: MagicEditInput!) {
  result: magicEdit(input: $input) { type: __typename ... on ProgressNoteChange { raw } }
}`;
const EDIT_ROUTE = 'POST /progress-notes/:id/magic-edit';

const editOf = ({ ids, noteIdOf }: Deployment['sandbox']) => ({
  progressNoteId: noteIdOf(ids.session(0, 0)),
  userInstructions: 'Shorter.',
  idempotencyKey: 'one',
});

/** Sends a magic edit that the Partner API answers when told to. Resolves once it has arrived there. */
async function beginEdit({ server, sandbox }: Deployment, signal?: AbortSignal) {
  const reply = Promise.withResolvers<void>();
  sandbox.answerNext(EDIT_ROUTE, { heldUntil: reply.promise, body: { nth: 1 } });
  sandbox.resetCounts();
  const input = editOf(sandbox);
  const answer = fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await tokenFor(['partner'])}`,
    },
    body: JSON.stringify({ query: EDIT, variables: { input } }),
    signal: signal ?? null,
  }).then(async (response): Promise<unknown> => response.json());
  await until(() => sandbox.countOf(EDIT_ROUTE) > 0);
  return { answer, reply: reply.resolve, input };
}

const UNKNOWN = expect.objectContaining({
  errors: [
    expect.objectContaining({ extensions: expect.objectContaining({ code: 'OUTCOME_UNKNOWN' }) }),
  ],
});

describe.concurrent('SIGTERM during a magic edit', { timeout: 120_000 }, () => {
  it('waits for its outcome, though its client has left', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    const aborting = new AbortController();
    const { answer, reply, input } = await beginEdit(deployment, aborting.signal);
    aborting.abort();
    await expect(answer).rejects.toThrow('aborted');
    server.signal('SIGTERM');
    await closing(server);
    setTimeout(reply, 2_500);
    expect(await endingOf(server)).toEqual({ code: 0, inTime: true });
    expect(server.stdout.join('\n')).toContain('magicEdit: changed');
    await deployment.start();
    const { data } = await deployment.server.query(EDIT, { input });
    expect(data.result.raw).toEqual({ nth: 1 });
    expect(sandbox.countOf(EDIT_ROUTE)).toBe(1);
  });

  it('that hangs answers, audits and keeps an unknown outcome', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    const { answer, input } = await beginEdit(deployment);
    server.signal('SIGTERM');
    expect(await answer).toEqual(UNKNOWN);
    expect(await endingOf(server)).toEqual({ code: 0, inTime: true });
    expect(server.stdout.join('\n')).toContain('magicEdit: OUTCOME_UNKNOWN');
    await deployment.start();
    expect(await deployment.server.query(EDIT, { input })).toEqual(UNKNOWN);
    expect(sandbox.countOf(EDIT_ROUTE)).toBe(1);
  });
});

describe.concurrent('SIGTERM during a mutation', { timeout: 120_000 }, () => {
  it('that waits for the Partner API ends it with an answer, and frees its key', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    const later = {
      status: 429,
      body: { message: 'Limit Exceeded' },
      headers: { 'retry-after': '14' },
    };
    sandbox.answerNext(EDIT_ROUTE, later);
    sandbox.resetCounts();
    const input = editOf(sandbox);
    const answer = server.query(EDIT, { input });
    await until(() => sandbox.countOf(EDIT_ROUTE) > 0);
    server.signal('SIGTERM');
    expect((await answer).errors).toMatchObject([{ extensions: { code: 'TIMEOUT' } }]);
    expect(await endingOf(server)).toEqual({ code: 0, inTime: true });
    await deployment.start();
    const { data } = await deployment.server.query(EDIT, { input });
    expect(data.result.type).toBe('ProgressNoteChange');
  });

  it('that hangs answers over WebSocket, and then closes the socket with 1001', async () => {
    await using deployment = await openDeployment();
    const { server, sandbox } = deployment;
    using socket = await dialIn(server);
    sandbox.answerNext(EDIT_ROUTE, { hang: true });
    sandbox.resetCounts();
    socket.send(subscribe('1', EDIT, { input: editOf(sandbox) }));
    await until(() => sandbox.countOf(EDIT_ROUTE) > 0);
    server.signal('SIGTERM');
    expect((await socket.closed).code).toBe(1001);
    expect(JSON.stringify(socket.untaken)).toContain('OUTCOME_UNKNOWN');
  });
});

describe.concurrent('an uncaught error', { timeout: 120_000 }, () => {
  it('is logged in one line without its text, and the process shuts down in order', async () => {
    const preload = ['test/support/faults/process/throw-on-signal.ts'];
    await using deployment = await openDeployment({ preload });
    const { follower, settle } = await deployment.load();
    // A rejection, and then, in the next process, an exception.
    for (const fault of ['SIGUSR1', 'SIGUSR2'] as const) {
      const slow = await beginSlowQuery(deployment, 1_000);
      const { server } = deployment;
      server.signal(fault);
      expect((await slow.answer).data.organizations.totalCount).toBeGreaterThan(0);
      expect(await endingOf(server)).toEqual({ code: 1, inTime: true });
      const lines = server.stdout.filter((line) => line.includes('uncaught'));
      expect(lines.map((line) => JSON.parse(line))).toEqual([
        expect.objectContaining({ level: 'error', error: 'Error', msg: 'uncaught: closing' }),
      ]);
      expect([...server.stdout, server.stderr()].join('\n')).not.toContain('Szymborska');
      deployment.sandbox.set({ latencyMs: 0 });
      await deployment.start();
    }
    expect(await settle()).toEqual(NO_LOSSES);
    expect(follower.closeCodes.filter((code) => code === 1001)).toHaveLength(2);
  });
});
