import { type Socket, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { ingestObserver } from '../../src/observability/observers.ts';
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

  it('keeps at most 64 MB of incomplete bodies, and closes the oldest', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const head = `POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: ${LIMIT}\r\n\r\n`;
    const part = Buffer.concat([Buffer.from(head), Buffer.alloc(LIMIT - 1, 'x')]);
    const sockets = Array.from({ length: 300 }, () => connect(receiver.port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    for (const socket of sockets)
      await new Promise((resolve) => socket.write(part, () => resolve(undefined)));
    await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThan(20);
    expect(sockets.at(-1)!.closed).toBe(false);
    const body = padded(500);
    const { status } = await receiver.send(body, { 'x-signature': macOf(body, SECRET) });
    expect(status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('counts the memory of each chunk, which may be a single byte', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const head = 'POST /webhooks HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n';
    const part = Buffer.from(`${head}${'1\r\nx\r\n'.repeat(150_000)}`);
    const [first, second] = [0, 1].map(() => connect(receiver.port, '127.0.0.1')) as [
      Socket,
      Socket,
    ];
    for (const socket of [first, second]) {
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.write(part, () => resolve(undefined)));
    }
    await expect.poll(() => first.closed).toBe(true);
    expect(second.closed).toBe(false);
    second.destroy();
  });

  it('counts only incomplete bodies: any number may come one after the other', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store, { verify: () => true });
    const body = padded(LIMIT);
    for (let sent = 0; sent < 300; sent += 1)
      expect((await receiver.send(body, {})).status).toBe(200);
  });

  it('discards a delivery whose sender disconnects before its end', async () => {
    await using store = await openTestStore();
    const appended: unknown[] = [];
    await using receiver = await openWebhookReceiver(store, {
      verify: () => true,
      log: {
        append: (events) => {
          appended.push(...events);
          return store.log.append(events);
        },
      },
    });
    const body = JSON.stringify(delivery('transcript_ready'));
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    const socket = connect(receiver.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(head + body, () => socket.destroy());
    await closed;
    await receiver.deliver(delivery('transcript_ready'));
    expect(appended).toHaveLength(1);
  });
});

describe('the log of invalid signatures', () => {
  it('has one line a minute, and never what was sent', () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg);
    const observer = ingestObserver(createLog('info', { write }), createMetrics(), 'x-signature');
    for (let i = 0; i < 5_000; i += 1) observer.refused('signature');
    expect(lines).toEqual(['webhook signature mismatch in header x-signature']);
  });
});

it('counts webhooks without a credible time', async () => {
  const metrics = createMetrics();
  ingestObserver(createLog('silent'), metrics, 'x-signature').badTimestamp();
  expect(await metrics.text()).toContain('\nevents_without_time_total 1\n');
});
