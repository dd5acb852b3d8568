import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';

import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { connect, follow } from '../../docs/clients/resume.ts';
import {
  EVENTS_OF_CLIENT as EVENTS,
  NOTES,
  failNextAccessCheck,
  finishUnreadableNote,
} from '../support/clients/outage.ts';
import { type Restarting, logged, openRestarting } from '../support/clients/restarts.ts';
import { createTally } from '../support/clients/tally.ts';
import { tokenFor } from '../support/gateway.ts';
import { socketUrl } from '../support/ws/raw-socket.ts';

afterEach(() => vi.restoreAllMocks());

function followed(gateway: Restarting, query = EVENTS, variables = {}, grants = ['partner']) {
  const received = createTally<string>();
  const refetched = createTally<string>();
  const errors: unknown[] = [];
  const end = Promise.withResolvers<unknown>();
  const client = connect(socketUrl(gateway.url), () => tokenFor(grants));
  const stop = follow<{ readonly cursor: string }>({
    client,
    query,
    variables,
    async refetch() {
      const { eventCursor } = (await gateway.query('{ eventCursor }')).data;
      refetched.add(eventCursor);
      return eventCursor;
    },
    onEvent({ cursor }, failed) {
      if (failed) errors.push(failed);
      received.add(cursor);
    },
    onEnd: end.resolve,
  });
  return {
    received,
    refetched,
    errors,
    end: end.promise,
    async [Symbol.asyncDispose]() {
      stop();
      await client.dispose();
    },
  };
}

describe('the helper that resumes by cursor', () => {
  it('misses and repeats no event while the gateway restarts', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway);
    const { received, refetched } = follower;
    await refetched.reaches(1);
    for (let round = 0; round < 2; round += 1) {
      gateway.sandbox.burst(15);
      await received.reaches(30 * round + 5);
      await gateway.close();
      gateway.sandbox.burst(15);
      await gateway.open();
      await received.reaches(30 * round + 30);
    }
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[0]!);
    await received.reaches(all.length);
    expect(received.all).toEqual(all);
    expect(refetched.all).toHaveLength(1);
  });

  it('refetches and resumes when its cursor has expired', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.1);
    await using gateway = await openRestarting();
    await using follower = followed(gateway);
    const { received, refetched } = follower;
    await refetched.reaches(1);
    gateway.sandbox.burst(5);
    await gateway.sandbox.delivered();
    const known = await logged(gateway, refetched.all[0]!);
    await received.reaches(known.length);
    await gateway.close();
    await gateway.open('fresh');
    await refetched.reaches(2);
    gateway.sandbox.burst(5);
    await gateway.sandbox.delivered();
    const all = await logged(gateway, refetched.all[1]!);
    await received.reaches(known.length + all.length);
    expect(received.all).toEqual([...known, ...all]);
  });

  it('ends with the gateway’s error if that is permanent', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway, 'subscription { nothing { cursor } }');
    expect(await follower.end).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('retries while the gateway can’t check access', async () => {
    await using gateway = await openRestarting();
    vi.spyOn(Math, 'random').mockReturnValue(0.1);
    const { grants, variables } = await failNextAccessCheck(gateway);
    await using follower = followed(gateway, EVENTS, variables, grants);
    await follower.refetched.reaches(1);
    gateway.sandbox.completeAssessments(variables.filter.clientId);
    await follower.received.reaches(1);
    const read = gateway.sandbox.countOf('GET /clinics/:clinicId/clients');
    expect(read).toBeGreaterThan(3);
  });

  it('passes on what could not be read of an event', async () => {
    await using gateway = await openRestarting();
    await using follower = followed(gateway, NOTES);
    await follower.refetched.reaches(1);
    finishUnreadableNote(gateway);
    await follower.received.reaches(1);
    expect(follower.errors).toMatchObject([[{ extensions: { code: 'UPSTREAM_UNAVAILABLE' } }]]);
  });

  it('waits before it refetches for an expired cursor', async () => {
    await using gateway = await openRestarting();
    const { eventCursor } = (await gateway.query('{ eventCursor }')).data;
    await gateway.close();
    await gateway.open('fresh');
    vi.spyOn(Math, 'random').mockReturnValue(0.05);
    const client = connect(socketUrl(gateway.url), () => tokenFor(['partner']));
    const refetched = createTally<number>();
    const stop = follow({
      client,
      query: EVENTS,
      refetch() {
        refetched.add(performance.now());
        return Promise.resolve(eventCursor);
      },
      onEvent: () => {},
      onEnd: () => {},
    });
    await refetched.reaches(3);
    stop();
    await client.dispose();
    const [first = 0, , third = 0] = refetched.all;
    expect(third - first).toBeGreaterThan(450);
  });

  it('ends with the error of its first read', async () => {
    const client = connect('ws://127.0.0.1:9/graphql', () => 'none');
    const end = Promise.withResolvers<unknown>();
    follow({
      client,
      query: EVENTS,
      refetch: () => Promise.reject(new Error('not signed in')),
      onEvent: () => {},
      onEnd: end.resolve,
    });
    expect(await end.promise).toMatchObject({ message: 'not signed in' });
  });
});

describe('a client that reconnects', () => {
  it('connects again when a server accepts the connection and never answers', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const accepted = createTally<Socket>();
    await using server = createServer(accepted.add).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const client = connect(`ws://127.0.0.1:${port}`, () => 'none');
    const unsubscribe = client.subscribe(
      { query: EVENTS },
      { next() {}, error() {}, complete() {} },
    );
    await accepted.reaches(1);
    await vi.advanceTimersByTimeAsync(11_000);
    await accepted.reaches(2);
    unsubscribe();
    for (const socket of accepted.all) socket.destroy();
  });

  it('keeps its subscriptions when a socket whose token failed closes late', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => server.close());
    const sockets = createTally<WebSocket>();
    server.on('connection', (socket) => {
      // The first one does not read its close frame yet.
      if (sockets.all.length === 0) socket.pause();
      sockets.add(socket);
    });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tokens = [() => Promise.reject(new Error('no network')), () => Promise.resolve('token')];
    const client = connect(`ws://127.0.0.1:${port}`, () => tokens.shift()!());
    const results = createTally<unknown>();
    client.subscribe(
      { query: EVENTS },
      { next: results.add, error: results.add, complete: () => {} },
    );
    await sockets.reaches(2);
    const [first, second] = sockets.all;
    const [init] = await once(second!, 'message');
    expect(JSON.parse(String(init))).toMatchObject({ type: 'connection_init' });
    second!.send('{"type":"connection_ack"}');
    const [message] = await once(second!, 'message');
    first!.resume();
    await once(first!, 'close');
    const { id } = JSON.parse(String(message));
    second!.send(JSON.stringify({ id, type: 'next', payload: { data: {} } }));
    await results.reaches(1);
    expect(results.all).toEqual([{ data: {} }]);
    await client.dispose();
  });

  it('reports each token that was rejected', async () => {
    await using gateway = await openRestarting();
    const client = connect(socketUrl(gateway.url), () => 'not-a-token');
    const closed = createTally<unknown>();
    client.on('closed', closed.add);
    const unsubscribe = client.subscribe(
      { query: EVENTS },
      { next() {}, error() {}, complete() {} },
    );
    await closed.reaches(2);
    expect(closed.all).toMatchObject([{ code: 4403 }, { code: 4403 }]);
    unsubscribe();
    await client.dispose();
  });

  it('can be closed while it reconnects', async () => {
    const client = connect('ws://127.0.0.1:9/graphql', () => 'none');
    const retried = Promise.withResolvers<unknown>();
    client.on('closed', retried.resolve);
    const unsubscribe = client.subscribe(
      { query: EVENTS },
      { next() {}, error() {}, complete() {} },
    );
    await retried.promise;
    // The next attempt waits.
    await Promise.resolve();
    unsubscribe();
    await client.dispose();
  });
});
