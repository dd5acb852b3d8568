import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { holdEdit } from '../../support/ws/held-edit.ts';
import {
  type RawSocket,
  dialIn,
  gauge,
  subscribe,
  subscribed,
  until,
} from '../../support/ws/raw-socket.ts';

const COPIES = Array.from({ length: 15 }, (_, i) => `note${i}: note`).join(' ');
const LARGE = `subscription { noteFinalized { cursor progressNote { ${COPIES} } } }`;
const SMALL = 'subscription { noteFinalized { cursor } }';
const NOTE = 'GET /progress-notes/:progressNoteId';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

const cursorsOf = (socket: RawSocket): readonly string[] =>
  socket.untaken.map(({ payload }) => payload.data.noteFinalized.cursor);

describe('a client that stops reading', () => {
  it('is closed with 1013 while the others get every event', async () => {
    using stalled = await dialIn(gateway);
    using well = await dialIn(gateway);
    using small = await dialIn(gateway);
    await subscribed(gateway, stalled, '1', LARGE);
    await subscribed(gateway, well, '1', LARGE);
    await subscribed(gateway, small, '1', SMALL);
    stalled.stall();
    const { sandbox } = gateway;
    const body = { isLoading: false, note: ['x'.repeat(2 ** 17)] };
    let sent = 0;
    // How much the system's buffers take differs: megabytes, before anything is queued here.
    while ((await gauge(gateway, 'gateway_slow_consumers_total')) === 0) {
      sandbox.answerNext(NOTE, { body });
      sandbox.finalize(sandbox.ids.note(10 + sent, 0));
      sent += 1;
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

  it('gets the outcome of its mutation before it is closed: it would send it again', async () => {
    await using own = await openGateway();
    const { sandbox } = own;
    using socket = await dialIn(own);
    using small = await dialIn(own);
    await subscribed(own, socket, '1', LARGE);
    await subscribed(own, small, '1', SMALL);
    const { release } = await holdEdit(own, socket);
    socket.stall();
    const body = { isLoading: false, note: ['x'.repeat(2 ** 17)] };
    let sent = 0;
    while ((await gauge(own, 'gateway_slow_consumers_total')) === 0) {
      sandbox.answerNext(NOTE, { body });
      sandbox.finalize(sandbox.ids.note(10 + sent, 0));
      sent += 1;
      await until(async () => (await gauge(own, 'events_delivered_total')) === 2 * sent);
    }
    // Once the queue was full no event is sent, even if the client reads again: some may be missing.
    socket.resume();
    sandbox.finalize(sandbox.ids.note(10 + sent, 0));
    await until(() => small.untaken.length === sent + 1);
    release();
    expect((await socket.closed).code).toBe(1013);
    const isEdit = ({ id }: { readonly id?: string }) => id === 'edit';
    expect(socket.untaken.filter(isEdit).map(({ type }) => type)).toEqual(['next', 'complete']);
    const got = socket.untaken.filter((message) => !isEdit(message));
    const cursors = got.map(({ payload }) => payload.data.noteFinalized.cursor);
    expect(cursors).toEqual(cursorsOf(small).slice(0, got.length));
    expect(got.length).toBeLessThanOrEqual(sent);
  });

  it('is not closed while several subscriptions of one socket replay more than the queue holds', async () => {
    const { sandbox } = gateway;
    const { data } = await gateway.query('{ eventCursor }');
    const body = { isLoading: false, note: ['x'.repeat(2 ** 17)] };
    sandbox.answerNext(NOTE, { body, times: 3 });
    for (const client of [5, 6, 7]) sandbox.finalize(sandbox.ids.note(client, 0));
    await sandbox.delivered();
    using socket = await dialIn(gateway);
    const ids = ['1', '2', '3', '4', '5', '6'];
    for (const id of ids) {
      // Different documents, so that each is executed by itself.
      const document = `subscription S${id}($after: EventCursor) {
        noteFinalized(after: $after) { progressNote { ${COPIES} } } }`;
      socket.send(subscribe(id, document, { after: data.eventCursor }));
    }
    await Promise.race([socket.closed, until(() => socket.untaken.length === 3 * ids.length)]);
    expect(socket.untaken).toHaveLength(3 * ids.length);
  });

  it('is not closed while it replays more than the queue holds at its own pace', async () => {
    const { sandbox } = gateway;
    const { data } = await gateway.query('{ eventCursor }');
    // Each event is more than the system's buffers take.
    const body = { isLoading: false, note: ['x'.repeat(2 ** 20)] };
    sandbox.answerNext(NOTE, { body, times: 3 });
    for (const client of [0, 1, 2]) sandbox.finalize(sandbox.ids.note(client, 0));
    await sandbox.delivered();
    using socket = await dialIn(gateway);
    const slow = await gauge(gateway, 'gateway_slow_consumers_total');
    const sent = await gauge(gateway, 'events_delivered_total');
    socket.stall();
    const document = `subscription($after: EventCursor) {
      noteFinalized(after: $after) { cursor progressNote { ${COPIES} } } }`;
    socket.send(subscribe('1', document, { after: data.eventCursor }));
    await until(async () => (await gauge(gateway, 'events_delivered_total')) > sent);
    socket.resume();
    await Promise.race([socket.closed, until(() => socket.untaken.length === 3)]);
    const cursors = socket.untaken.map(({ payload }) => payload.data.noteFinalized.cursor);
    expect(new Set(cursors).size).toBe(3);
    expect(await gauge(gateway, 'gateway_slow_consumers_total')).toBe(slow);
  });
});
