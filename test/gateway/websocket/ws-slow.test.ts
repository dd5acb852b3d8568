import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { type RawSocket, dialIn, gauge, subscribed, until } from '../../support/ws/raw-socket.ts';

/** Some 60 KiB an event: the system's own buffers take megabytes before anything is queued here. */
const LARGE = `subscription($after: EventCursor) { noteReady(after: $after) { cursor progressNote {
  ${Array.from({ length: 15 }, (_, i) => `note${i}: note raw${i}: raw`).join(' ')} } } }`;
const SMALL = 'subscription { noteReady { cursor } }';
const NOTES = 200;

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

const cursorsOf = (socket: RawSocket): readonly string[] =>
  socket.untaken.map(({ payload }) => payload.data.noteReady.cursor);

async function burst(count: number): Promise<void> {
  gateway.sandbox.burst(2 * count);
  await gateway.sandbox.delivered();
}

describe('a client that stops reading', () => {
  it('is closed with 1013 while the others get every event', async () => {
    using stalled = await dialIn(gateway);
    using well = await dialIn(gateway);
    using small = await dialIn(gateway);
    await subscribed(gateway, stalled, '1', LARGE);
    await subscribed(gateway, well, '1', LARGE);
    await subscribed(gateway, small, '1', SMALL);
    stalled.stall();
    let sent = 0;
    // How much the system's buffers take differs.
    while ((await gauge(gateway, 'gateway_slow_consumers_total')) === 0) {
      await burst(NOTES);
      sent += NOTES;
      await until(() => well.untaken.length === sent && small.untaken.length === sent);
    }
    expect(cursorsOf(well)).toEqual(cursorsOf(small));
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(1);
    expect(await gauge(gateway, 'gateway_subscriptions')).toBe(2);

    stalled.resume();
    expect(await stalled.closed).toEqual({ code: 1013, reason: 'Try again later' });
    // What it received has no gap: it resumes from the last cursor.
    const got = cursorsOf(stalled);
    expect(got).toEqual(cursorsOf(well).slice(0, got.length));
    expect(got.length).toBeLessThan(sent);
  });

  it('is not closed while it replays more than the queue holds at its own pace', async () => {
    const { data } = await gateway.query('{ eventCursor }');
    await burst(NOTES);
    using socket = await dialIn(gateway);
    const slow = await gauge(gateway, 'gateway_slow_consumers_total');
    socket.ws.once('message', () => {
      socket.stall();
      setTimeout(socket.resume, 500);
    });
    await subscribed(gateway, socket, '1', LARGE, { after: data.eventCursor });
    await until(() => socket.untaken.length === NOTES);
    expect(new Set(cursorsOf(socket)).size).toBe(NOTES);
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(slow);
  });
});
