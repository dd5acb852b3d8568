import { describe, expect, it } from 'vitest';

import { openIssuer } from '../../support/faults/issuer.ts';
import { openGateway, tokenFor } from '../../support/gateway.ts';
import { type RawSocket, dialIn, gauge, subscribe, until } from '../../support/ws/raw-socket.ts';

const MANY = Number(process.env['SUBSCRIBERS'] ?? 200);
const NOTE_READY = 'subscription { noteReady { cursor progressNote { isLoading } } }';

const closeAll = (sockets: readonly RawSocket[]): void => {
  for (const socket of sockets) socket[Symbol.dispose]();
};

describe(`${MANY} subscribers`, { timeout: 60_000 }, () => {
  it('all get one event, which costs one call, and are all cleaned up', async () => {
    await using gateway = await openGateway({ env: { LIMIT_SOCKETS_PER_VIEWER: '10000' } });
    const token = await tokenFor(['partner']);
    const sockets = await Promise.all(Array.from({ length: MANY }, () => dialIn(gateway, token)));
    for (const [i, socket] of sockets.entries()) socket.send(subscribe(`id-${i}`, NOTE_READY));
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === MANY);
    gateway.sandbox.resetCounts();
    gateway.sandbox.startSession(gateway.sandbox.ids.client(0), { prescriber: false });
    gateway.sandbox.settle();
    const received = await Promise.all(sockets.map((socket) => socket.next()));
    expect(received.map(({ id }) => id)).toEqual(sockets.map((_, i) => `id-${i}`));
    expect(new Set(received.map(({ payload }) => JSON.stringify(payload))).size).toBe(1);
    expect(gateway.sandbox.countOf()).toBeLessThanOrEqual(2);
    expect(gateway.sandbox.countOf('GET /progress-notes/:progressNoteId')).toBe(1);
    closeAll(sockets);
    await until(async () => (await gauge(gateway, 'gateway_subscriptions')) === 0);
    await until(async () => (await gauge(gateway, 'gateway_sockets')) === 0);
  });

  it('reconnect at once with a token each, and the keys are fetched once', async () => {
    await using issuer = await openIssuer();
    await using gateway = await openGateway({
      env: issuer.env,
    });
    const tokens = await Promise.all(
      Array.from({ length: MANY }, (_, i) => issuer.token(`viewer-${i}`)),
    );
    const sockets = await Promise.all(tokens.map((token) => dialIn(gateway, token)));
    expect(sockets).toHaveLength(MANY);
    expect(issuer.fetches()).toBe(1);
    closeAll(sockets);
  });
});
