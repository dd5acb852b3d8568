import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { delivery, macOf } from '../support/events/deliveries.ts';
import {
  openWebhookReceiver,
  openTestStore,
  SECRET,
} from '../support/events/open-webhook-receiver.ts';

const LIMIT = 256 * 1024;

/** JSON of exactly this many bytes. */
function padded(bytes: number): Buffer {
  const json = JSON.stringify(delivery('transcript_ready'));
  return Buffer.from(json.padEnd(bytes, ' '));
}

describe('the webhook route', () => {
  it('accepts a body at the limit, and rejects one byte more', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const [fits, exceeds] = [padded(LIMIT), padded(LIMIT + 1)];
    expect((await receiver.send(fits, { 'x-signature': macOf(fits, SECRET) })).status).toBe(200);
    expect((await receiver.send(exceeds, { 'x-signature': macOf(exceeds, SECRET) })).status).toBe(
      413,
    );
    const chunked = { 'x-signature': macOf(exceeds, SECRET), 'transfer-encoding': 'chunked' };
    expect((await receiver.send(exceeds, chunked)).status).toBe(413);
    expect(receiver.counts).toMatchObject({ 'refused size': 2 });
  });

  it('discards a delivery whose sender disconnects before its end, and reports no failure of its own', async () => {
    await using store = await openTestStore();
    const appended: unknown[] = [];
    const append: typeof store.log.append = (events) => {
      appended.push(...events);
      return store.log.append(events);
    };
    await using receiver = await openWebhookReceiver({ ...store, log: { ...store.log, append } });
    const body = JSON.stringify(delivery('transcript_ready'));
    const signature = `X-Signature: ${macOf(Buffer.from(body), SECRET)}`;
    const head = `POST / HTTP/1.1\r\nHost: x\r\n${signature}\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    const socket = connect(receiver.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(head + body, () => socket.destroy());
    await closed;
    await receiver.deliver(delivery('transcript_ready'));
    expect(appended).toHaveLength(1);
    expect(receiver.counts).toEqual({ accepted: 1 });
  });
});
