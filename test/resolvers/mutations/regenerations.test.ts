import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { WebhookEvent } from '../../../sandbox/sandbox.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { magicEdit } from '../../support/mutation/edits.ts';
import { redisAvailable, startRedis } from '../../support/redis-server.ts';

let gateway: Gateway;
/** Each test has a note of its own. */
let client = 0;
let noteId: string;
beforeAll(async () => {
  gateway = await openGateway({ switches: { rewriteMs: 60_000, newNoteIdEvery: 0 } });
});
beforeEach(() => {
  noteId = gateway.sandbox.ids.note(client, 0);
  client += 1;
});
afterAll(() => gateway.close());

/** The rewrites of the note that were published, each by its time stamp. */
async function published(): Promise<string[]> {
  const { data } = await gateway.query(`{ events(first: 100) { nodes {
    type occurredAt ... on ProgressNoteRegenerated { progressNoteId } } } }`);
  const nodes: { type: string; occurredAt: string; progressNoteId?: string }[] = data.events.nodes;
  return nodes.filter((node) => node.progressNoteId === noteId).map((node) => node.occurredAt);
}

/** Finishes the next rewrite, and waits until its event is applied. */
async function finishOne(): Promise<WebhookEvent> {
  gateway.sandbox.step();
  await gateway.sandbox.delivered();
  const event = gateway.sandbox.events.at(-1);
  if (!event) throw new Error('wanted an event, but none was sent');
  return event;
}

async function deliver(event: WebhookEvent): Promise<void> {
  gateway.sandbox.emit(event);
  await gateway.sandbox.delivered();
}

const later = (event: WebhookEvent, seconds: number): WebhookEvent => ({
  ...event,
  timeStamp: new Date(Date.parse(event.timeStamp) + seconds * 1_000).toISOString(),
});

/** A rewrite that was not made through this gateway. */
async function rewrittenElsewhere(): Promise<WebhookEvent> {
  const { baseUrl, clientId, clientSecret, apiKey } = gateway.sandbox.connection;
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const answer = await fetch(`${baseUrl}/partners/authenticate`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ clientId, clientSecret }),
  });
  const { accessToken } = (await answer.json()) as { accessToken: string };
  await fetch(`${baseUrl}/progress-notes/${noteId}/regenerate`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'access-token': accessToken },
  });
  gateway.sandbox.resetCounts();
  return finishOne();
}

describe('a regeneration', () => {
  it('is delivered once: a time stamp already accepted is a duplicate, although the note kept its id and was edited', async () => {
    const first = await rewrittenElsewhere();
    await magicEdit(gateway, noteId);
    await deliver(first);
    const second = await finishOne();
    await deliver(first);
    await deliver(second);
    expect(await published()).toEqual([first.timeStamp, second.timeStamp]);
  });

  it('without a time stamp is a duplicate of the event with its key', async () => {
    const first = await rewrittenElsewhere();
    await deliver({ ...first, timeStamp: undefined } as unknown as WebhookEvent);
    expect(await published()).toEqual([first.timeStamp]);
    const next = later(first, 1);
    await deliver(next);
    expect(await published()).toEqual([first.timeStamp, next.timeStamp]);
  });

  it('is after the cursor that its mutation returned', async () => {
    await rewrittenElsewhere();
    const { result } = await magicEdit(gateway, noteId);
    const { timeStamp } = await finishOne();
    const { data } = await gateway.query(
      'query($after: EventCursor) { events(after: $after) { nodes { occurredAt } } }',
      { after: result.cursor },
    );
    expect(data.events.nodes).toEqual([{ occurredAt: timeStamp }]);
  });
});

describe.skipIf(!redisAvailable)('a duplicate of an event', () => {
  it('is not delivered, and invalidates the caches of every instance', async () => {
    await using redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    await using one = await openGateway({ env, switches: { rewriteMs: 60_000 } });
    await using two = await openGateway({ env, sandbox: one.sandbox });
    const { sandbox } = one;
    sandbox.startSession(sandbox.ids.client(0), { prescriber: false });
    sandbox.settle();
    await sandbox.delivered();
    const event = sandbox.events.at(-1);
    if (!event) throw new Error('wanted an event, but none was sent');
    const read = async () => {
      const query = 'query($id: ID!) { progressNote(id: $id) { note } }';
      await two.query(query, { id: event.payload['progressNoteId'] });
      return sandbox.countOf('GET /progress-notes/:id');
    };
    const log = '{ events(first: 100) { nodes { cursor } } }';
    const before = (await two.query(log)).data;
    const calls = await read();
    expect(await read()).toBe(calls);
    sandbox.emit(event);
    await sandbox.delivered();
    expect(await read()).toBe(calls + 1);
    expect((await two.query(log)).data).toEqual(before);
  });
});
