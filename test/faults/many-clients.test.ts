import { once } from 'node:events';
import type { Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { freePort } from '../support/free-port.ts';
import {
  CLIENTS,
  closeCodeOf,
  connected,
  inBatches,
  isFull,
  percentile,
  keepAlive,
  silentSubscriber,
} from '../support/faults/many-clients.ts';
import { openIssuer } from '../support/faults/issuer.ts';
import { createReconnectingClient } from '../support/faults/reconnecting-client.ts';
import { type Deployment, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { dialIn, gauge, subscribe, until } from '../support/ws/raw-socket.ts';

const record = (name: string, figure: string) => {
  if (isFull) console.log(`${name}: ${figure}`);
};
const destroy = (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy();
};
const TEST_OPTIONS = { timeout: isFull ? 600_000 : 120_000 };
const eventually = (holds: () => boolean | Promise<boolean>) =>
  until(holds, 50, isFull ? 500_000 : 50_000);
/** Some 4 KiB per event and `times`: larger events fill a stalled reader's buffers sooner. */
const noteOf = (times: number) =>
  Array.from({ length: times }, (_, i) => `note${i}: note raw${i}: raw`).join(' ');

describe(`${CLIENTS} clients`, TEST_OPTIONS, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({ env: { LIMIT_SOCKETS_PER_VIEWER: '10000' } });
  });
  afterAll(() => deployment[Symbol.asyncDispose]());

  it('with two idle connections each do not block new requests', async () => {
    const { url } = deployment.server;
    const sockets = await inBatches(2 * CLIENTS, async () => {
      const socket = await connected(url);
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
      return socket;
    });
    const began = performance.now();
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    record('/healthz beside the idle', `${(performance.now() - began).toFixed(0)} ms`);
    expect((await deployment.server.query('{ viewer { subject } }')).status).toBe(200);
    expect(await sendOne(url, deployment.sandbox)).toBe(200);
    if (!isFull) return destroy(sockets);
    await Promise.all(
      sockets.map(async (socket) => (socket.closed ? undefined : once(socket.resume(), 'close'))),
    );
    record('idle for', `${((performance.now() - began) / 1_000).toFixed(1)} s`);
    expect(performance.now() - began).toBeLessThan(120_000);
  });

  it('that disappear without closing are disconnected within two pings, and their subscriptions end', async () => {
    const pingMs = isFull ? 12_000 : 1_000;
    await using gateway = await openGateway({
      env: { LIMIT_SOCKETS_PER_VIEWER: '10000' },
      limits: { socketPingMs: pingMs },
    });
    const token = await tokenFor(['partner']);
    const query = 'subscription { noteReady { cursor } }';
    const sockets: Socket[] = [];
    // Whoever subscribes first must still be there when the last one has.
    const here = keepAlive(sockets, pingMs / 5);
    await inBatches(CLIENTS, async () =>
      sockets.push(await silentSubscriber(gateway.url, token, query)),
    );
    await eventually(async () => (await gauge(gateway, 'gateway_subscriptions')) === CLIENTS);
    here[Symbol.dispose]();
    const began = performance.now();
    await eventually(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    expect(await gauge(gateway, 'gateway_sockets')).toBe(0);
    record('half-open gone after', `${((performance.now() - began) / 1_000).toFixed(1)} s`);
    // On a busy machine, beside other tests, a ping may come late.
    expect(performance.now() - began).toBeLessThan(2 * pingMs + (isFull ? 0 : 15_000));
    destroy(sockets);
  });

  it('that stop reading are closed with 1013, and do not delay one that reads', async () => {
    const { server, sandbox } = deployment;
    const gateway = server as unknown as Gateway;
    const token = await tokenFor(['partner']);
    const large = `subscription { noteReady { progressNote { ${noteOf(isFull ? 4 : 15)} } } }`;
    const slow: Socket[] = [];
    using _ = keepAlive(slow);
    await inBatches(CLIENTS, async () =>
      slow.push(await silentSubscriber(server.url, token, large)),
    );
    using fast = await dialIn(gateway);
    fast.send(subscribe('1', 'subscription { noteReady { progressNoteId } }'));
    await eventually(async () => (await gauge(gateway, 'gateway_subscriptions')) === CLIENTS + 1);
    sandbox.deliverTo(`${server.url}/webhooks`);
    const delays: number[] = [];
    const isOver = async () => (await gauge(gateway, 'gateway_slow_consumers_total')) >= CLIENTS;
    for (let at = 0; at % 10 > 0 || !(await isOver()); at += 1) {
      sandbox.startSession(sandbox.ids.client(at % 400), { prescriber: false });
      const began = performance.now();
      sandbox.settle();
      await fast.next();
      delays.push(performance.now() - began);
    }
    record(
      'fast beside slow, p99',
      `${percentile(delays, 0.99).toFixed(0)} ms of ${delays.length}`,
    );
    // Beside other tests some events are late, for any reader.
    expect(percentile(delays, isFull ? 0.99 : 0.5)).toBeLessThan(2_000);
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(CLIENTS);
    const codes = await Promise.all(slow.slice(0, 10).map(closeCodeOf));
    expect(new Set(codes)).toEqual(new Set([1013]));
    destroy(slow);
  });

  // A few clients and events are a test of test/gateway/websocket/ws-slow.test.ts.
  const inFull = isFull ? it : () => undefined;
  inFull('are not affected by one reader that stalls, which is closed with 1013', async () => {
    const events = 2 * CLIENTS;
    await using own = await openDeployment();
    const { server, sandbox } = own;
    const gateway = server as unknown as Gateway;
    const token = await tokenFor(['partner']);
    const query = `subscription { noteReady { cursor progressNote { ${noteOf(1)} } } }`;
    const stalled = await silentSubscriber(server.url, token, query);
    using _ = keepAlive([stalled]);
    const well = await Promise.all([1, 2, 3].map(async () => dialIn(gateway, token)));
    for (const socket of well) socket.send(subscribe('1', query));
    await eventually(async () => (await gauge(gateway, 'gateway_subscriptions')) === 4);
    // The close frame comes once; later the connection is cut, and what was not read is lost.
    const isClosed = async () => (await gauge(gateway, 'gateway_slow_consumers_total')) > 0;
    const code = eventually(isClosed).then(async () => closeCodeOf(stalled));
    sandbox.deliverTo(`${server.url}/webhooks`);
    for (let sent = 0; sent < events; sent += 50) {
      sandbox.burst(100);
      await sandbox.delivered();
    }
    await eventually(() => well.every(({ untaken }) => untaken.length === events));
    const [one, ...others] = well.map(({ untaken }) =>
      untaken.map(({ payload }) => payload.data.noteReady.cursor),
    );
    for (const cursors of others) expect(cursors).toEqual(one);
    expect(new Set(one).size).toBe(events);
    expect(await code).toBe(1013);
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(1);
    record('events to three readers beside a stalled one', `${events}, none missed`);
    for (const socket of well) socket.ws.terminate();
  });

  it('reconnect after a restart at the cost of one key set and one Partner API token', async () => {
    await using issuer = await openIssuer();
    const port = await freePort();
    const env = { PORT: String(port), ...issuer.env };
    await using restarted = await openDeployment({ env });
    const { sandbox } = restarted;
    const tokens = await inBatches(CLIENTS, (i) => issuer.token(`viewer-${i}`));
    const clients = tokens.map((token) => createReconnectingClient(restarted.server.url, token));
    await Promise.all(clients.map(async (client) => client.connected(1)));
    await restarted.server.kill();
    const fetches = issuer.fetches();
    sandbox.resetCounts();
    const began = performance.now();
    await restarted.start();
    await Promise.all(clients.map(async (client) => client.connected(2)));
    const gateway = restarted.server as unknown as Gateway;
    await eventually(async () => (await gauge(gateway, 'gateway_subscriptions')) === CLIENTS);
    record('all back after', `${((performance.now() - began) / 1_000).toFixed(1)} s`);
    expect(performance.now() - began).toBeLessThan(30_000);
    sandbox.deliverTo(`${restarted.server.url}/webhooks`);
    sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    await Promise.all(clients.map(async (client) => client.received(1)));
    expect(issuer.fetches() - fetches).toBe(1);
    expect(sandbox.countOf('POST /partners/authenticate')).toBe(1);
    expect(sandbox.countOf('GET /progress-notes/:progressNoteId')).toBe(1);
    for (const client of clients) client.close();
  });
});
