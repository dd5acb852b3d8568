import { once } from 'node:events';

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { openGateway, tokenFor } from '../../support/gateway.ts';
import { callsTo } from '../../support/graph/counted.ts';
import { countOf } from '../../support/mutation/edits.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';
import { holdEdit } from '../../support/ws/held-edit.ts';
import { dialIn, gauge, subscribe, subscribed, until } from '../../support/ws/raw-socket.ts';

const EVENTS = 'subscription { events { cursor type } }';

/** Sets the clock by an hour, past the expiry of every token. */
function expireTokens(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  onTestFinished(() => void vi.useRealTimers());
}

describe('a token that expires', () => {
  it('closes its socket with 4403 soon, and no event follows', async () => {
    await using gateway = await openGateway();
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, '1', EVENTS);
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
    expireTokens();
    const began = performance.now();
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect(await socket.closed).toEqual({
      code: 4403,
      reason: 'The bearer token has expired.',
    });
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(socket.untaken).toEqual([]);
    expect(await gauge(gateway, 'gateway_subscriptions')).toBe(0);
  });

  it('lets a mutation be answered first: no event follows, and no other operation begins', async () => {
    const outcomes: unknown[] = [];
    const onLog = (line: string) => void outcomes.push(JSON.parse(line).outcome);
    await using gateway = await openGateway({ limits: { socketPingMs: 500 }, onLog });
    const { sandbox } = gateway;
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, 'events', EVENTS);
    const { release, late } = await holdEdit(gateway, socket);
    expireTokens();
    sandbox.completeAssessments(sandbox.ids.client(0));
    socket.send(late);
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    // Its token is checked before each ping.
    await once(socket.ws, 'ping');
    release();
    const data = { result: { type: 'ProgressNoteChange' } };
    expect(await socket.next()).toMatchObject({ id: 'edit', type: 'next', payload: { data } });
    expect(await socket.next()).toEqual({ id: 'edit', type: 'complete' });
    expect((await socket.closed).code).toBe(4403);
    expect([socket.untaken, countOf(gateway, 'magicEdit')]).toEqual([[], 1]);
    // Events that are not sent are not audited either.
    expect(outcomes).not.toContain('delivered');
  });

  it('may expire in a hundred years', async () => {
    await using gateway = await openGateway({ limits: { socketPingMs: 200 } });
    const expiresInSeconds = 100 * 365 * 86_400;
    using socket = await dialIn(gateway, await tokenFor(['partner'], { expiresInSeconds }));
    await once(socket.ws, 'ping');
    expect(socket.ws.readyState).toBe(socket.ws.OPEN);
  });
});

describe.concurrent('a client that is gone without closing', () => {
  it('is disconnected when it has not answered a ping before the next', async () => {
    await using gateway = await openGateway({ limits: { socketPingMs: 1_000 } });
    using mute = await dialIn(gateway);
    using well = await dialIn(gateway);
    await subscribed(gateway, mute, '1', EVENTS);
    mute.stall();
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    await until(async () => (await gauge(gateway, 'gateway_sockets')) === 1);
    mute.resume();
    expect((await mute.closed).code).toBe(1006);
    for (const _ of [1, 2]) await once(well.ws, 'ping');
    expect(well.ws.readyState).toBe(well.ws.OPEN);
  });

  it('loses its subscriptions when its connection breaks', async () => {
    await using gateway = await openGateway();
    const socket = await dialIn(gateway);
    await subscribed(gateway, socket, '1', EVENTS);
    socket.ws.terminate();
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    await until(async () => (await gauge(gateway, 'gateway_sockets')) === 0);
  });
});

describe('a process that was suspended', () => {
  it('reads the pongs that arrived meanwhile before it disconnects anyone', async () => {
    await using gateway = await openGateway({ limits: { socketPingMs: 200 } });
    using socket = await dialIn(gateway);
    await once(socket.ws, 'ping');
    // The pong is sent, and can't be read before the next ping is due.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    const pinged = once(socket.ws, 'ping').then(() => 'pinged');
    expect(await Promise.race([pinged, socket.closed])).toBe('pinged');
  });
});

describe.concurrent('a gateway that shuts down', () => {
  it('first answers queries and mutations, begins no other, and closes sockets without any at once', async () => {
    const gateway = await openGateway();
    using busy = await dialIn(gateway);
    using other = await dialIn(gateway);
    await subscribed(gateway, busy, 'events', EVENTS);
    await subscribed(gateway, other, 'events', EVENTS);
    const { release, late } = await holdEdit(gateway, busy);
    const closing = gateway.close();
    expect(await other.closed).toEqual({ code: 1001, reason: 'Going away' });
    expect(busy.untaken).toEqual([]);
    busy.send(late);
    release();
    const data = { result: { type: 'ProgressNoteChange' } };
    expect(await busy.next()).toMatchObject({ id: 'edit', type: 'next', payload: { data } });
    expect(await busy.next()).toEqual({ id: 'edit', type: 'complete' });
    expect((await busy.closed).code).toBe(1001);
    await closing;
    expect([busy.untaken, countOf(gateway, 'magicEdit')]).toEqual([[], 1]);
  });

  it('does not wait for clients that have stopped reading', async () => {
    const gateway = await openGateway();
    using socket = await dialIn(gateway);
    socket.stall();
    const began = performance.now();
    await gateway.close();
    expect(performance.now() - began).toBeLessThan(9_000);
  });
});

describe.runIf(redisAvailable).concurrent('a log', () => {
  it('that was lost ends its subscriptions with 1013, and their cursors have expired; other operations continue', async () => {
    await using redis = await startRedis();
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url } });
    using socket = await dialIn(gateway);
    using idle = await dialIn(gateway);
    const RESUME = 'subscription($after: EventCursor) { events(after: $after) { cursor } }';
    await subscribed(gateway, socket, '1', RESUME);
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    const { payload } = await socket.next();
    const { cursor } = payload.data.events;
    const LIST = '{ organizations { totalCount } }';
    await gateway.query(LIST);
    redis.cli('FLUSHALL');
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(0));
    expect((await socket.closed).code).toBe(1013);
    // What the lost events would have invalidated is not known.
    const before = callsTo(gateway);
    await gateway.query(LIST);
    expect(callsTo(gateway)).toBe(before + 1);

    await subscribed(gateway, idle, '1', EVENTS);
    gateway.sandbox.completeAssessments(gateway.sandbox.ids.client(1));
    expect(await idle.next()).toMatchObject({ id: '1', type: 'next' });
    using again = await dialIn(gateway);
    again.send(subscribe('1', RESUME, { after: cursor }));
    const answer = await again.next();
    expect(answer).toMatchObject({
      id: '1',
      type: 'error',
      payload: [
        {
          message: 'The event log no longer goes back to this cursor: load your data again.',
          extensions: { code: 'EVENTS_EXPIRED', oldestCursor: expect.any(String) },
        },
      ],
    });
    // The first event of the new log has the position of the lost one.
    again.send(subscribe('2', RESUME, { after: answer.payload[0].extensions.oldestCursor }));
    expect((await again.next()).payload.data.events.cursor).not.toBe(cursor);
  });

  it('that was lost while the access to a filtered record is proven rejects the subscription', async () => {
    await using redis = await startRedis();
    const lines: string[] = [];
    const onLog = (line: string) => void lines.push(line);
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url }, onLog });
    const { sandbox } = gateway;
    const [clinic, id] = [sandbox.ids.clinic(0), sandbox.ids.clinician(0)];
    for (const client of [0, 1]) sandbox.completeAssessments(sandbox.ids.client(client));
    await sandbox.delivered();
    const route = 'GET /clinics/:clinicId/clinicians';
    const held = Promise.withResolvers<void>();
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    const body = { data: [{ id }], meta };
    sandbox.answerNext(route, { heldUntil: held.promise, body, times: 2 });
    const before = sandbox.countOf(route);
    using socket = await dialIn(gateway, await tokenFor([`clinic:${clinic}`]));
    const LIVE = 'subscription($filter: EventFilter) { events(filter: $filter) { type } }';
    socket.send(subscribe('1', LIVE, { filter: { clinicianId: id } }));
    await until(() => sandbox.countOf(route) > before);
    redis.cli('FLUSHALL');
    await until(() => lines.some((line) => line.includes('"reason":"lost"')));
    held.resolve();
    // The first event of the new log has an earlier position than the last one of the old log.
    sandbox.startSession(sandbox.ids.client(0));
    sandbox.settle();
    const payload = [{ extensions: { code: 'EVENTS_EXPIRED' } }];
    expect(await socket.next()).toMatchObject({ id: '1', type: 'error', payload });
  });

  it('that was lost lets a mutation be answered before its socket closes: its client would send it again', async () => {
    await using redis = await startRedis();
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url } });
    const { sandbox } = gateway;
    using socket = await dialIn(gateway);
    await subscribed(gateway, socket, 'events', EVENTS);
    const { release, late } = await holdEdit(gateway, socket);
    redis.cli('FLUSHALL');
    sandbox.completeAssessments(sandbox.ids.client(0));
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    socket.send(late);
    release();
    const data = { result: { type: 'ProgressNoteChange' } };
    const next = () => Promise.race([socket.next(), socket.closed]);
    expect(await next()).toMatchObject({ id: 'edit', type: 'next', payload: { data } });
    expect(await next()).toEqual({ id: 'edit', type: 'complete' });
    expect((await socket.closed).code).toBe(1013);
    expect([socket.untaken, countOf(gateway, 'magicEdit')]).toEqual([[], 1]);
  });

  it('that cannot be read is an error on the id of the operation, and the socket stays open', async () => {
    await using redis = await startRedis();
    await using gateway = await openGateway({ env: { REDIS_URL: redis.url } });
    const { data } = await gateway.query('{ eventCursor }');
    using socket = await dialIn(gateway);
    await redis.kill();
    socket.send(
      subscribe('1', 'subscription($after: EventCursor) { events(after: $after) { cursor } }', {
        after: data.eventCursor,
      }),
    );
    expect(await socket.next()).toEqual({
      id: '1',
      type: 'error',
      payload: [
        {
          message: 'This gateway can’t reach its own store. Try again in a moment.',
          extensions: { code: 'UPSTREAM_UNAVAILABLE', requestId: expect.any(String) },
        },
      ],
    });
    socket.send({ type: 'ping' });
    expect(await socket.next()).toEqual({ type: 'pong' });
  });
});
