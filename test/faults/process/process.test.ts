import { once } from 'node:events';
import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { type Socket, connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Deployment, NO_LOSSES, openDeployment } from '../../support/faults/deployment.ts';
import { noteEvent, sendOne, signed } from '../../support/faults/sender.ts';
import { tokenFor } from '../../support/gateway.ts';
import { dial, dialIn, until } from '../../support/ws/raw-socket.ts';

describe('a process with 256 file descriptors', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({ under: ['prlimit', '--nofile=256'] });
  });
  afterAll(() => deployment[Symbol.asyncDispose]());

  it('that runs out of them serves open connections, and later new ones', async () => {
    const { server, sandbox } = deployment;
    const port = Number(new URL(server.url).port);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const webhook = async () => {
      const body = noteEvent(sandbox, crypto.randomUUID());
      const headers = { ...signed(sandbox, body), 'content-length': body.length };
      const sent = request(`${server.url}/webhooks`, { agent, headers, method: 'POST' }).end(body);
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      await once(response.resume(), 'end');
      return response.statusCode;
    };
    expect(await webhook()).toBe(200);
    const idle = new Set<Socket>();
    const openIdle = (): void => {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      idle.add(socket);
      // Opened again as soon as the server closes it.
      socket.once('close', () => idle.delete(socket) && openIdle());
    };
    for (let n = 0; n < 400; n += 1) openIdle();
    await until(() => server.stdout.some((line) => line.includes('too many are open')));
    for (let n = 0; n < 20; n += 1) expect(await webhook()).toBe(200);
    // New clients, while all of them stay open and idle.
    const newClient = () => sendOne(server.url, sandbox).catch(() => undefined);
    const statuses = [];
    for (let n = 0; n < 10; n += 1) statuses.push(await newClient());
    // Some may be closed in a burst of hundreds, before their requests are read.
    expect(statuses).toContain(200);
    for (const socket of idle) {
      idle.delete(socket);
      socket.destroy();
    }
    const isThere = () => fetch(`${server.url}/healthz`).then(({ ok }) => ok);
    await until(() => isThere().catch(() => false));
    expect((await server.query('{ organizations { totalCount } }')).errors).toBeUndefined();
    agent.destroy();
  });

  it('whose connections are all idle after a request serves new ones', async () => {
    const { server } = deployment;
    const agent = new Agent({ keepAlive: true });
    const health = (options: RequestOptions) => {
      const sent = request(`${server.url}/healthz`, options).end();
      return once(sent, 'response') as Promise<[IncomingMessage]>;
    };
    const held = [];
    for (let n = 0; n < 200; n += 1) {
      // The response is read only at the end, so that the next request takes a connection of its own.
      const [response] = await health({ agent });
      held.push(response);
    }
    const [response] = await health({ agent: false });
    expect(response.statusCode).toBe(200);
    for (const { socket } of held) socket.destroy();
  });

  it('keeps a tenth of its connections for webhooks and health checks', async () => {
    const { server, sandbox } = deployment;
    using sockets = new DisposableStack();
    const open = async (subject: string) =>
      sockets.use(await dialIn(server, await tokenFor(['partner'], { subject })));
    let opened = 0;
    const openUntilRefused = async (): Promise<void> => {
      for (; opened < 200; opened += 1) await open(`viewer ${Math.floor(opened / 10)}`);
    };
    await expect(openUntilRefused()).rejects.toThrow('Unexpected server response: 503');
    expect(opened).toBeGreaterThan(100);
    const stream = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await tokenFor(['partner'])}`,
      },
      body: JSON.stringify({ query: 'subscription { events { type } }' }),
    });
    expect(stream.status).toBe(503);
    for (let n = 0; n < 5; n += 1) expect(await sendOne(server.url, sandbox)).toBe(200);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });

  it('whose connections were all busy at once, and are idle now, serves new ones', async () => {
    const { server, sandbox } = deployment;
    const agent = new Agent({ keepAlive: true });
    const authorization = `Bearer ${await tokenFor(['partner'])}`;
    const headers = { 'content-type': 'application/json', authorization };
    sandbox.set({ latencyMs: 3_000 });
    const query = `{ progressNote(id: "${sandbox.ids.note(0, 0)}") { note } }`;
    const asked: Promise<string>[] = [];
    // More than the limit, one after another, so that each has sent its request before the next one connects.
    for (let n = 0; n < 140; n += 1) {
      const sent = request(`${server.url}/graphql`, { method: 'POST', headers, agent });
      const answered = new Promise<string>((resolve) => {
        sent.on('error', () => resolve('refused'));
        sent.on('response', (response) => resolve(response.resume() && 'answered'));
      });
      asked.push(answered);
      sent.end(JSON.stringify({ query }));
      await Promise.race([once(sent, 'finish').catch(() => undefined), answered]);
    }
    expect(await Promise.all(asked)).toContain('answered');
    const [response] = (await once(
      request(`${server.url}/healthz`, { agent: false }).end(),
      'response',
    )) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    agent.destroy();
  });
});

it(
  'rejects queries and sockets while it is short of memory, and still accepts webhooks',
  { timeout: 120_000 },
  async () => {
    const preload = ['test/support/faults/process/hog-memory.ts'];
    await using deployment = await openDeployment({
      preload,
      env: { NODE_OPTIONS: '--max-old-space-size=256' },
    });
    const { server, sandbox } = deployment;
    const { sender, settle } = await deployment.load();
    const ask = () => server.query('{ viewer { subject } }');
    expect((await ask()).status).toBe(200);
    using socket = await dialIn(server);
    server.signal('SIGUSR2');
    await until(async () => (await ask()).status === 503);
    expect((await ask()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]);
    await until(() => server.stdout.some((line) => line.includes('short of memory')));
    const code = 'UPSTREAM_UNAVAILABLE';
    socket.send({ id: 'a', type: 'subscribe', payload: { query: '{ viewer { subject } }' } });
    expect(await socket.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code } }],
    });
    const { ws } = dial(server);
    expect(String((await once(ws, 'error'))[0])).toContain('503');
    expect(await sendOne(server.url, sandbox)).toBe(200);
    await sender.more(50);
    server.signal('SIGUSR1');
    await until(async () => (await ask()).status === 200);
    expect(await settle()).toEqual(NO_LOSSES);
  },
);
