import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';

import * as authentication from '../../../src/viewer/authenticate.ts';
import { SANDBOX_VIEWER } from '../../../src/viewer/viewer.ts';
import { listen } from '../../support/access/listener.ts';
import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { cursorNow } from '../../support/ws/graphql-client.ts';
import { dialIn, gauge, until } from '../../support/ws/raw-socket.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ limits: { socketPingMs: 200 } });
});
afterAll(() => gateway.close());

const NOTE_READY = `subscription($after: EventCursor) {
  noteReady(after: $after) { cursor progressNote { isLoading } } }`;

async function* eventsOf(response: Response) {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const [, type = '', data = ''] = /^event: (\w+)\ndata: ?(.*)$/s.exec(event) ?? [];
      if (type) yield { type, payload: data === '' ? undefined : JSON.parse(data) };
    }
  }
}

async function follow(
  after: string | undefined,
  token?: string,
  from = gateway,
  query = NOTE_READY,
  accept = 'text/event-stream',
) {
  const aborting = new AbortController();
  const response = await fetch(`${from.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept,
      authorization: `Bearer ${token ?? (await tokenFor(['partner']))}`,
    },
    body: JSON.stringify({ query, variables: { after } }),
    signal: aborting.signal,
  });
  const events = eventsOf(response);
  const next = async () => (await events.next()).value ?? 'end';
  return { response, next, close: () => aborting.abort() };
}

/** A client that reads nothing but the headers. */
async function stall(from: Gateway, query: string, token: string) {
  const body = JSON.stringify({ query });
  const { hostname, port } = new URL(from.url);
  const stalled = connect(Number(port), hostname).on('error', () => undefined);
  stalled.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\ncontent-type: application/json\r\n` +
      `authorization: Bearer ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await once(stalled, 'data');
  return stalled.pause();
}

const cursorIn = (event: Awaited<ReturnType<Awaited<ReturnType<typeof follow>>['next']>>) =>
  event === 'end' ? undefined : event.payload.data.noteReady.cursor;

describe('a subscription over server-sent events', () => {
  it.each(['text/event-stream', 'application/json, text/event-stream'])(
    'delivers events to a client that accepts %s, and resumes after the last one',
    async (accept) => {
      const after = await cursorNow(gateway);
      const first = await follow(after, undefined, gateway, NOTE_READY, accept);
      expect(first.response.headers.get('content-type')).toBe('text/event-stream');
      expect(first.response.headers.get('cache-control')).toBe('no-store');
      gateway.sandbox.burst(20);
      const cursors: unknown[] = [];
      while (cursors.length < 5) cursors.push(cursorIn(await first.next()));
      first.close();
      const last = cursors.at(-1) as string;
      const second = await follow(last, undefined, gateway, NOTE_READY, accept);
      while (cursors.length < 10) cursors.push(cursorIn(await second.next()));
      expect(new Set(cursors).size).toBe(10);
      second.close();
      await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    },
  );

  it.each(['text/event-stream', 'application/json, text/event-stream'])(
    'is authenticated once for a client that accepts %s',
    async (accept) => {
      const authenticate = vi.fn(() => Promise.resolve(SANDBOX_VIEWER));
      using create = vi.spyOn(authentication, 'createAuthenticator');
      create.mockReturnValue(authenticate);
      await using other = await openGateway();
      const { response, close } = await follow(undefined, undefined, other, NOTE_READY, accept);
      expect(response.status).toBe(200);
      expect(authenticate).toHaveBeenCalledTimes(1);
      close();
    },
  );

  it('resumes although each event is larger than its queue', async () => {
    await using small = await openGateway({ limits: { socketQueueBytes: 10 } });
    const after = await cursorNow(small);
    small.sandbox.burst(20);
    await small.sandbox.delivered();
    // Without a call to the Partner API, the results are all there at once.
    const document = 'subscription($after: EventCursor) { noteReady(after: $after) { cursor } }';
    const stream = await follow(after, undefined, small, document);
    for (let got = 0; got < 10; got += 1) expect(cursorIn(await stream.next())).toBeDefined();
    stream.close();
  });

  it('gets all events of one webhook, although they are more than its queue holds', async () => {
    const document = 'subscription { events { cursor type occurredAt receivedAt } }';
    const stream = await follow(undefined, undefined, gateway, document);
    gateway.sandbox.emit({
      eventType: 'assessment_completed',
      timeStamp: new Date().toISOString(),
      payload: {
        patientId: gateway.sandbox.ids.client(0),
        assessmentScores: Array.from({ length: 500 }, () => ({
          id: randomUUID(),
          assessmentId: 'phq9',
        })),
      },
    });
    for (let got = 0; got < 500; got += 1)
      expect(await stream.next()).toMatchObject({ payload: { data: expect.anything() } });
    stream.close();
  });

  it('is rejected for a viewer at the limit of streams and sockets, until one is closed', async () => {
    await using strict = await openGateway({ limits: { socketsPerViewer: 3 } });
    const anna = await tokenFor(['partner'], { subject: 'anna' });
    const socket = await dialIn(strict, anna);
    const streams = [
      await follow(undefined, anna, strict),
      await follow(undefined, anna, strict),
    ] as const;
    expect(streams.map(({ response }) => response.status)).toEqual([200, 200]);
    const { response } = await follow(undefined, anna, strict);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT' } }],
    });
    await expect(dialIn(strict, anna)).rejects.toThrow('1013');
    expect((await follow(undefined, undefined, strict)).response.status).toBe(200);

    streams[0].close();
    await until(async () => (await follow(undefined, anna, strict)).response.status === 200);
    socket.ws.close();
    await until(async () => (await follow(undefined, anna, strict)).response.status === 200);
    expect((await follow(undefined, anna, strict)).response.status).toBe(429);
  });

  it('ends when the token expires, without a complete event', async () => {
    const { next, response } = await follow(undefined);
    expect(response.status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await next()).toBe('end');
    expect(await gauge(gateway, 'gateway_subscriptions')).toBe(0);
  });

  it('ends when the token expires although its client reads nothing, and gets no more events', async () => {
    const delivered: unknown[] = [];
    const onLog = (line: string) => {
      const { outcome, subject } = JSON.parse(line);
      if (outcome === 'delivered') delivered.push(subject);
    };
    await using own = await openGateway({ limits: { socketPingMs: 200 }, onLog });
    const { ids } = own.sandbox;
    const large = Array.from({ length: 15 }, (_, i) => `n${i}: note`).join(' ');
    const document = `subscription { noteFinalized { progressNote { ${large} } } }`;
    const stalled = await stall(own, document, await tokenFor(['partner'], { subject: 'stalled' }));
    // More than the system takes for a client that reads nothing.
    const note = ['x'.repeat(2 ** 20)];
    own.sandbox.answerNext('GET /progress-notes/:id', { body: { isLoading: false, note } });
    own.sandbox.finalize(ids.note(0, 0));
    await until(() => delivered.length > 0);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await until(async () => (await gauge(own, 'gateway_subscriptions')) === 0);
    const well = await listen(own, ['partner'], document, {}, 'well');
    own.sandbox.finalize(ids.note(1, 0));
    await well.next();
    expect(delivered).toEqual([['stalled'], ['well']]);
    well.close();
    stalled.destroy();
  });

  it('is rejected with 406 for a client that accepts only JSON', async () => {
    const { status, errors } = await gateway.query(NOTE_READY);
    expect([status, errors?.[0]?.extensions.code]).toEqual([406, 'BAD_USER_INPUT']);
  });

  it('reports why it cannot start, and completes', async () => {
    const { next } = await follow('x');
    expect(await next()).toMatchObject({
      type: 'next',
      payload: { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    });
    expect(await next()).toEqual({ type: 'complete', payload: undefined });
    expect(await next()).toBe('end');
  });

  it.each([
    ['application/json', 200],
    ['application/graphql-response+json', 400],
  ])('that cannot start is answered as %s with status %i', async (type, status) => {
    const accept = `${type}, text/event-stream`;
    const { response } = await follow('x', undefined, gateway, NOTE_READY, accept);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      `${type}; charset=utf-8`,
    ]);
    expect(await response.json()).toEqual({
      errors: [expect.objectContaining({ message: expect.stringContaining('"after"') })],
    });
  });

  it.each([
    [
      'application/graphql-response+json',
      { status: 500, times: 3 },
      503,
      'UPSTREAM_UNAVAILABLE',
      '5',
    ],
    ['application/json', { status: 500, times: 3 }, 200, 'UPSTREAM_UNAVAILABLE', null],
    [
      'application/graphql-response+json',
      { status: 429, headers: { 'retry-after': '40' } },
      503,
      'UPSTREAM_RATE_LIMITED',
      '40',
    ],
  ])(
    'that cannot start because of the Partner API says as %s after %j when to try again',
    async (type, answer, status, code, retryAfter) => {
      const { answerNext, ids } = gateway.sandbox;
      answerNext('GET /clinics/:clinicId/clients', { ...answer, body: {} });
      const query = `subscription { events(filter: { clientId: "${ids.client(0)}" }) { type } }`;
      const token = await tokenFor([`clinic:${ids.clinic(0)}`]);
      const accept = `${type}, text/event-stream`;
      const { response } = await follow(undefined, token, gateway, query, accept);
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, retryAfter]);
      expect(await response.text()).toContain(`"code":"${code}"`);
    },
  );

  it('ends when the gateway shuts down, and does not delay it', async () => {
    const closing = await openGateway();
    const { next } = await follow(undefined, undefined, closing);
    const began = performance.now();
    await closing.close();
    expect(performance.now() - began).toBeLessThan(9_000);
    expect(await next()).toBe('end');
  });

  it('that starts during the shutdown is rejected with 503, and does not delay it', async () => {
    const closing = await openGateway();
    const body = JSON.stringify({ query: 'subscription { noteReady { cursor } }' });
    const { hostname, port } = new URL(closing.url);
    const socket = connect(Number(port), hostname);
    const headers = [
      `POST /graphql HTTP/1.1`,
      `host: ${hostname}`,
      'content-type: application/json',
      'accept: text/event-stream',
      `authorization: Bearer ${await tokenFor(['partner'])}`,
      `content-length: ${body.length}`,
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n${body.slice(0, 10)}`);
    // By now the server has read the headers.
    await gauge(closing, 'gateway_subscriptions');
    const began = performance.now();
    const closed = closing.close();
    socket.write(body.slice(10));
    const [response] = await once(socket.setEncoding('utf8'), 'data');
    expect(response).toMatch(/^HTTP\/1.1 503 .*"code":"UPSTREAM_UNAVAILABLE"/s);
    await Promise.all([closed, once(socket, 'close')]);
    expect(performance.now() - began).toBeLessThan(9_000);
  });

  it('is closed when its client stops reading, and the others get every event', async () => {
    const slow = await gauge(gateway, 'gateway_slow_consumers_total');
    const large = Array.from({ length: 15 }, (_, i) => `n${i}: note r${i}: raw`).join(' ');
    const document = `subscription { noteReady { cursor progressNote { ${large} } } }`;
    const stalled = await stall(gateway, document, await tokenFor(['partner']));
    const well = await follow(await cursorNow(gateway));
    // How much the system's buffers take differs.
    while ((await gauge(gateway, 'gateway_slow_consumers_total')) === slow) {
      gateway.sandbox.burst(100);
      for (let got = 0; got < 50; got += 1) expect(cursorIn(await well.next())).toBeDefined();
    }
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(slow + 1);
    well.close();
    stalled.destroy();
  });
});
