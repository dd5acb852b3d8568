import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type EventFacts, fromStored } from '../../src/events/partner-event.ts';
import { StoreUnavailable } from '../../src/errors.ts';
import { assessments, bytesOf, delivery, macOf, uuid } from '../support/events/deliveries.ts';
import {
  listen,
  openWebhookReceiver,
  openTestStore,
  SECRET,
} from '../support/events/open-webhook-receiver.ts';

const ELSEWHERE = [
  'file:///etc/passwd',
  'http://169.254.169.254/',
  'https://evil.example/x',
  'https://api.example.com@evil.example/',
  'https://api.example.com/v2/../partners',
  'http://7f000001.rebind.example/',
  'http://[::ffff:127.0.0.1]/',
];

describe('a signed delivery', () => {
  it('gets an empty 200 once it is in the log', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const sessionId = uuid();
    const answer = await receiver.deliver(delivery('transcript_ready', { sessionId }));
    expect(answer).toMatchObject({ status: 200, body: '' });
    const stored = (await store.log.read(0, 10)).events;
    expect(stored.map(fromStored)).toMatchObject([{ type: 'transcript_ready', sessionId }]);
  });

  it('is published once, however often and fast it is repeated', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const json = delivery('progress_note_generated');
    const deliverMany = () => Promise.all(Array.from({ length: 20 }, () => receiver.deliver(json)));
    const answers = [...(await deliverMany()), ...(await deliverMany())];
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await store.log.read(0, 10)).events).toHaveLength(1);
    expect(receiver.counts).toEqual({
      accepted: 1,
      copy: 39,
    });
  });

  it('is acknowledged once it is applied, and so is its duplicate', async () => {
    await using store = await openTestStore();
    const order: string[] = [];
    const late = async (name: string) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push(name);
      return true;
    };
    await using receiver = await openWebhookReceiver(store, {
      whenApplied: (position) => late(`applied ${position}`),
      applyEverywhere: async (copies) => void (await late(`${copies.length} copy`)),
    });
    const json = delivery('progress_note_finalized');
    for (const answer of ['first', 'second']) {
      await receiver.deliver(json);
      order.push(`${answer} answer`);
    }
    expect(order).toEqual(['applied 1', 'first answer', '1 copy', 'second answer']);
    expect(receiver.accepted).toHaveLength(1);
  });

  it('invalidates what it makes stale, even if the log can not be read in time', async () => {
    await using store = await openTestStore();
    const applied: EventFacts[] = [];
    await using receiver = await openWebhookReceiver(store, {
      whenApplied: () => Promise.resolve(false),
      applyEverywhere: async (events) => void applied.push(...events),
    });
    const progressNoteId = uuid();
    await receiver.deliver(delivery('progress_note_regenerated', { progressNoteId }));
    expect(applied).toMatchObject([{ progressNoteId }]);
  });

  it('of a regeneration is a new event for each time stamp not yet accepted', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const progressNoteId = uuid();
    const at = (timeStamp: string) =>
      receiver.deliver(delivery('progress_note_regenerated', { progressNoteId }, { timeStamp }));
    await at('2025-05-06T07:00:00Z');
    await at('2025-05-06T08:00:00Z');
    await at('2025-05-06T07:00:00.000Z');
    await at('2025-05-06T09:00:00+01:00');
    await at('2025-05-06T10:00:00Z');
    expect(receiver.counts).toEqual({
      accepted: 3,
      copy: 2,
    });
  });

  it('of each regeneration is accepted by a process that began with a clock ten minutes slow', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store, { now: () => Date.now() - 600_000 });
    const progressNoteId = uuid();
    for (const ageMs of [2_000, 1_000]) {
      const timeStamp = new Date(Date.now() - ageMs).toISOString();
      await receiver.deliver(
        delivery('progress_note_regenerated', { progressNoteId }, { timeStamp }),
      );
    }
    expect(receiver.counts).toEqual({ accepted: 2 });
  });

  it('with a published score and a new one, which it names twice, publishes only the new one', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const [client, known, fresh] = [uuid(), uuid(), uuid()];
    await receiver.deliver(assessments(client, [known]));
    await receiver.deliver(assessments(client, [known, fresh, fresh.toUpperCase()]));
    expect((await receiver.deliver(assessments(client, []))).status).toBe(200);
    const stored = (await store.log.read(0, 10)).events.map(fromStored);
    expect(stored).toMatchObject([{ scoreId: known }, { scoreId: fresh }]);
  });

  it('is read whatever its content type', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const json = delivery('transcript_ready');
    expect((await receiver.deliver(json, { 'content-type': 'text/plain' })).status).toBe(200);
    expect((await store.log.read(0, 10)).events).toHaveLength(1);
  });

  it('never makes the gateway request or store a URL in its payload', async () => {
    let calls = 0;
    const trap = createServer((_, res) => {
      calls += 1;
      res.end();
    });
    trap.on('connection', () => (calls += 1));
    const port = await listen(trap);
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const urls = [`http://127.0.0.1:${port}/x`, `http://api.example.com@127.0.0.1:${port}/`];
    for (const url of [...urls, ...ELSEWHERE]) {
      const links = { progressNoteUrl: url, transcriptUrl: url, mdmUrl: url };
      expect((await receiver.deliver(delivery('progress_note_generated', links))).status).toBe(200);
    }
    const kept = (await store.log.read(0, 10)).events;
    expect(kept).toHaveLength(urls.length + ELSEWHERE.length);
    expect(JSON.stringify(kept)).not.toMatch(/127\.0\.0\.1|169\.254|passwd|http|evil|rebind/);
    expect(calls).toBe(0);
    await new Promise((resolve) => trap.close(resolve));
  });
});

describe('a delivery that cannot be read', () => {
  it('gets 200 and is quarantined, not published', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const unknown = { eventType: 'progress_note_deleted', payload: { a: 1 } };
    expect((await receiver.deliver(unknown)).status).toBe(200);
    const lacking = delivery('progress_note_generated', { progressNoteId: undefined });
    expect((await receiver.deliver(lacking)).status).toBe(200);
    expect(await store.quarantine.list(10)).toMatchObject([
      { reason: 'unknown eventType', body: JSON.stringify(unknown) },
      { reason: 'progress_note_generated: progressNoteId must be a UUID' },
    ]);
    expect((await store.log.read(0, 10)).events).toEqual([]);
    expect(receiver.counts).toEqual({ quarantined: 2 });
  });
});

describe('a delivery without a valid signature', () => {
  it('gets an empty 401, and nothing is stored', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const body = bytesOf(delivery('transcript_ready'));
    const macs = [undefined, '', ' ', 'abzz', macOf(body, ''), macOf(body, 'api-key')];
    for (const mac of [...macs, `sha256=${macOf(body, SECRET)}`, macOf(body, SECRET).slice(2)]) {
      const answer = await receiver.send(body, mac === undefined ? {} : { 'x-signature': mac });
      expect(answer).toMatchObject({ status: 401, body: '' });
    }
    expect((await store.log.read(0, 10)).events).toEqual([]);
    expect(receiver.counts).toEqual({ 'refused signature': 8 });
  });
});

describe('a delivery with a content encoding', () => {
  it('gets 415 if its signature is valid, else 401', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver(store);
    const body = gzipSync(bytesOf(delivery('transcript_ready')));
    const gzip = { 'content-encoding': 'gzip' };
    const signed = await receiver.send(body, { ...gzip, 'x-signature': macOf(body, SECRET) });
    expect(signed.status).toBe(415);
    expect((await receiver.send(body, gzip)).status).toBe(401);
    const plain = await receiver.deliver(delivery('transcript_ready'), {
      'content-encoding': 'identity',
    });
    expect(plain.status).toBe(200);
  });
});

const append = () => Promise.reject(new StoreUnavailable('the disk is full'));

describe('a store that is down', () => {
  it('makes the response 503, so that the sender retries', async () => {
    await using store = await openTestStore();
    await using receiver = await openWebhookReceiver({ ...store, log: { ...store.log, append } });
    const json = delivery('transcript_ready');
    const answer = await receiver.deliver(json);
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '5' }, body: '' });
    expect(receiver.counts).toEqual({ failed: 1, 'refused unavailable': 1 });
    await using mended = await openWebhookReceiver(store);
    expect((await mended.deliver(json)).status).toBe(200);
  });

  it('makes the response 503 for a delivery to be quarantined as well', async () => {
    await using store = await openTestStore();
    const quarantine = { ...store.quarantine, add: append };
    await using receiver = await openWebhookReceiver({ ...store, quarantine });
    expect((await receiver.deliver({ eventType: 'x', payload: {} })).status).toBe(503);
  });

  it('lets the sender retry a delivery that is in the log but not applied', async () => {
    await using store = await openTestStore();
    let fails = true;
    const whenApplied = async () => {
      if (fails) throw new Error('it could not be applied');
      return true;
    };
    await using receiver = await openWebhookReceiver(store, { whenApplied });
    const json = delivery('transcript_ready');
    expect((await receiver.deliver(json)).status).toBe(503);
    fails = false;
    expect((await receiver.deliver(json)).status).toBe(200);
    expect((await store.log.read(0, 10)).events).toHaveLength(1);
  });
});
