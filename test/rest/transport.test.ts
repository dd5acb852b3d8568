import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { recordEndpoints } from '../../src/rest/records.ts';
import { Attempt } from '../../src/rest/client/transport.ts';
import { createPartner, createUsage } from '../../src/rest/partner.ts';
import { createFakeClock } from '../support/rest/fake-clock.ts';
import { codeOf, id, loadersOf, setUp } from '../support/rest/partner.ts';
import { answer, openUpstream, pageBody } from '../support/rest/upstream.ts';
import type { Script } from '../support/rest/upstream.ts';

const send =
  (contentType: string, body: string | Buffer): Script =>
  (_, response) => {
    response.writeHead(200, { 'content-type': contentType });
    response.end(body);
  };

const endless =
  (status: number): Script =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    const more = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };

describe('an invalid response', () => {
  it.each<[string, Script]>([
    ['a page', send('text/html', '<html>')],
    ['truncated JSON', send('application/json', '{"isLoading":fal')],
    ['invalid UTF-8', send('application/json', Buffer.from('{"note":["\xff"]}', 'latin1'))],
    ['NaN', send('application/json', '{"isLoading":NaN}')],
    ['nothing', send('application/json', '')],
    ['a string', send('application/json', '"x"')],
    ['null', send('application/json', 'null')],
    ['a gzip bomb', send('application/json', gzipSync(Buffer.alloc(20 * 1024 * 1024)))],
    ['a body without end', endless(200)],
    [
      'a body in 40,000 pieces',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        for (let piece = 0; piece < 40_000; piece += 1) response.write(' ');
        response.end('{"isLoading":false,"note":[]}');
      },
    ],
    [
      'a header of 1 MB',
      (_, response) => answer(response, 200, {}, { 'x-large': 'x'.repeat(1024 * 1024) }),
    ],
    [
      '4,000 headers',
      (_, response) =>
        answer(
          response,
          200,
          {},
          Object.fromEntries(Array.from({ length: 4_000 }, (__, i) => [`x-${i}`, 'x'])),
        ),
    ],
  ])('is a broken contract after one attempt: %s', async (_, script) => {
    // On a busy machine some take longer than the attempt may.
    await using setup = await setUp(script, { clock: createFakeClock() });
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_BAD_RESPONSE',
    );
    expect(setup.upstream.seen).toHaveLength(1);
    expect(setup.partner.state().inFlight).toBe(0);
  });

  it('is retried when its body breaks off, and reported after the last attempt', async () => {
    await using setup = await setUp((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"isLoading":', () => response.destroy());
    });
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_BAD_RESPONSE',
    );
    expect(setup.upstream.seen).toHaveLength(3);
  });

  it('is unavailable for an error whose body never ends', async () => {
    await using setup = await setUp(endless(503));
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
  });

  it('is a 404 whose body never ends: it does not make a record look deleted', async () => {
    await using setup = await setUp(endless(404));
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_BAD_RESPONSE',
    );
  });

  it.each([301, 302, 303, 307, 308])(
    'is a %i that is not followed, so that the token is not sent elsewhere',
    async (status) => {
      await using canary = await openUpstream((_, response) => answer(response, 200, {}));
      await using setup = await setUp((_, response) =>
        answer(response, status, {}, { location: `${canary.connection.baseUrl}/x` }),
      );
      expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
        'UPSTREAM_BAD_RESPONSE',
      );
      expect(canary.seen).toEqual([]);
    },
  );

  it.each([
    ['it is not HTTP', 'SSH-2.0-OpenSSH\r\n'],
    ['it has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}'],
  ])('is a broken contract if %s', async (_, response) => {
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(response));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const baseUrl = `http://127.0.0.1:${port}/v2`;
    await using partner = createPartner({ baseUrl, clientId: '', clientSecret: '', apiKey: '' });
    expect(await codeOf(loadersOf(partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_BAD_RESPONSE',
    );
    server.close();
  });
});

describe('a missing response', () => {
  it('is unavailable after the last attempt on a hanging upstream', async () => {
    const clock = createFakeClock();
    await using setup = await setUp(() => {}, { clock, timeoutMs: 1000 });
    const read = codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)));
    for (const attempt of [1, 2, 3]) {
      await setup.upstream.arrived(attempt);
      clock.advance(1000);
    }
    expect(await read).toBe('UPSTREAM_UNAVAILABLE');
    expect(setup.upstream.seen).toHaveLength(3);
    expect(setup.partner.state().inFlight).toBe(0);
  });

  it('is unavailable, and not a timeout, if attempts have failed when the operation ends', async () => {
    const failed = vi.fn();
    const clock = createFakeClock();
    await using setup = await setUp(() => {}, { clock, timeoutMs: 1000, observer: { failed } });
    const usage = createUsage();
    const read = codeOf(setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1)));
    await setup.upstream.arrived(1);
    clock.advance(1000);
    await setup.upstream.arrived(2);
    usage.end();
    expect(await read).toBe('UPSTREAM_UNAVAILABLE');
    expect(failed).toHaveBeenCalledWith(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }));
  });

  it('is not repeated if its operation ends in the turn in which the answer comes', async () => {
    const failed = vi.fn();
    const unavailable: Script = (_, response) => answer(response, 503, {});
    await using setup = await setUp(unavailable, { observer: { failed } });
    const usage = createUsage();
    const { onResponseEnd } = Attempt.prototype;
    using ended = vi.spyOn(Attempt.prototype, 'onResponseEnd').mockImplementation(function (
      this: Attempt,
    ) {
      onResponseEnd.call(this);
      if (this.status === 503) usage.end();
    });
    const read = setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1));
    expect(await codeOf(read)).toBe('TIMEOUT');
    await expect.poll(() => failed).toHaveBeenCalled();
    expect(failed.mock.calls).toMatchObject([[{ code: 'UPSTREAM_UNAVAILABLE' }]]);
    expect(ended).toHaveBeenCalled();
    expect(setup.upstream.seen).toHaveLength(1);
    expect(setup.partner.state().inFlight).toBe(0);
  });

  it('is unavailable when the body arrives too slowly', async () => {
    await using setup = await setUp(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 5);
        response.once('close', () => clearInterval(timer));
      },
      { timeoutMs: 100 },
    );
    expect(await codeOf(loadersOf(setup.partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
  });

  it('is retried after a reset', async () => {
    await using setup = await setUp(({ number }, response) => {
      if (number === 1) response.socket?.resetAndDestroy();
      else answer(response, 200, { isLoading: false, note: ['x'] });
    });
    const usage = createUsage();
    expect(await setup.partner.loadersFor(usage).record(recordEndpoints.note, id(1))).toMatchObject(
      {
        note: ['x'],
      },
    );
    expect(usage).toMatchObject({ calls: 2, retried: 1 });
  });

  it('is unavailable when the connection is refused', async () => {
    const upstream = await openUpstream(() => {});
    await upstream[Symbol.asyncDispose]();
    await using partner = createPartner(upstream.connection, { random: () => 0 });
    expect(await codeOf(loadersOf(partner).record(recordEndpoints.note, id(1)))).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
    expect(await codeOf(partner.check())).toBe('UPSTREAM_UNAVAILABLE');
  });
});

describe('a request to the Partner API', () => {
  it('that ends while its connection is being made keeps its slot until that is over', async () => {
    const clock = createFakeClock();
    const sockets: Socket[] = [];
    // No TLS handshake ever ends.
    const server = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await using partner = createPartner(
      { baseUrl: `https://127.0.0.1:${port}/v2`, clientId: '', clientSecret: '', apiKey: '' },
      { clock, maxConcurrency: 1, random: () => 0 },
    );
    const checked = codeOf(partner.check());
    await expect.poll(() => sockets).toHaveLength(1);
    clock.advance(5000);
    expect(partner.state()).toMatchObject({ inFlight: 1, queued: 1 });
    sockets[0]?.destroy();
    await expect.poll(() => sockets).toHaveLength(2);
    expect(partner.state()).toMatchObject({ inFlight: 1, queued: 0 });
    server.close();
    sockets[1]?.destroy();
    expect(await checked).toBe('UPSTREAM_UNAVAILABLE');
    expect(partner.state().inFlight).toBe(0);
  });

  it('has the token, the key, the trace and nothing of the viewer', async () => {
    await using setup = await setUp((_, response) => answer(response, 200, pageBody(0, 1)));
    const usage = createUsage();
    usage.traceHeaders = ['traceparent', '00-a-b-01'];
    const filter = { phoneNumber: '+1 555', lastName: 'a&b=c', firstName: '' };
    const loaders = setup.partner.loadersFor(usage);
    await loaders.page({ name: 'clientsOfClinic', id: id(1), filter }, 1);

    const [request] = setup.upstream.seen;
    expect(request?.path).toBe(
      `/clinics/${id(1)}/clients?firstName=&lastName=a%26b%3Dc&phoneNumber=%2B1%20555&page=1`,
    );
    expect(request?.headers).toMatchObject({
      'access-token': 'token-1',
      'x-api-key': 'api-key',
      traceparent: '00-a-b-01',
    });
    expect(Object.keys(request?.headers ?? {}).toSorted()).toEqual([
      'accept-encoding',
      'access-token',
      'connection',
      'host',
      'traceparent',
      'x-api-key',
    ]);
  });

  it.each(['..', '../partners', `${id(1)}/x`, `${id(1)}?page=2`, '', 'x\r\ny', '%2e%2e'])(
    'never has a path with %j in it',
    async (wrong) => {
      await using setup = await setUp(() => {});
      expect(() => loadersOf(setup.partner).record(recordEndpoints.note, wrong as never)).toThrow(
        'needs a UUID',
      );
      expect(setup.upstream.seen).toEqual([]);
    },
  );
});
