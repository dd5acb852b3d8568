import { beforeEach, afterEach, describe, expect, it } from 'vitest';

import type { WebhookEvent } from '../../sandbox/sandbox.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { type Change, change, changes, envelope, magicEdit } from '../support/mutation/edits.ts';

let gateway: Gateway;
let noteId: string;
beforeEach(async () => {
  gateway = await openGateway({ switches: { rewriteMs: 60_000, newNoteIdEvery: 0 } });
  noteId = gateway.sandbox.ids.note(0, 0);
});
afterEach(() => gateway.close());

/** The rewrites of the note that were published, each by its time stamp. */
async function published(): Promise<string[]> {
  const { data } = await gateway.query(`{ events(first: 100) { nodes {
    type occurredAt ... on ProgressNoteRegenerated { progressNoteId } } } }`);
  const nodes: { type: string; occurredAt: string; progressNoteId?: string }[] = data.events.nodes;
  return nodes.filter((node) => node.progressNoteId === noteId).map((node) => node.occurredAt);
}

/** The next rewrite is done, told of and taken in. */
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

/** A rewrite that was not made through this gateway: its key is known from then on, and no arm is left. */
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

describe('a rewrite through the gateway', () => {
  it('has its event published although the note kept its id, each of two quick ones', async () => {
    const first = await rewrittenElsewhere();
    await Promise.all([magicEdit(gateway, noteId), change(gateway, 'regenerate', noteId)]);
    const second = await finishOne();
    const third = await finishOne();
    expect(await published()).toEqual([first, second, third].map(({ timeStamp }) => timeStamp));
  });

  it('has its event published although one of two quick ones gave the note another id', async () => {
    const { sandbox } = gateway;
    // Met first, so that the gateway knows whose session it is.
    await gateway.query(
      'query($id: ID!) { session(id: $id) { progressNote { progressNoteId } } }',
      {
        id: sandbox.ids.session(0, 0),
      },
    );
    await Promise.all([magicEdit(gateway, noteId), change(gateway, 'regenerate', noteId)]);
    const renamed = (event: WebhookEvent): WebhookEvent => ({
      ...event,
      payload: { ...event.payload, progressNoteId: sandbox.ids.note(0, 1) },
    });
    sandbox.deliverTo(undefined);
    sandbox.settle();
    const [first, second] = sandbox.events.slice(-2) as [WebhookEvent, WebhookEvent];
    noteId = sandbox.ids.note(0, 1);
    sandbox.deliverTo(`${gateway.url}/webhooks`);
    const after = later(second, 1);
    await deliver(renamed(first));
    await deliver(renamed(after));
    expect(await published()).toEqual([first.timeStamp, after.timeStamp]);
  });

  it('has its event published once: copies are none, and use up no arm', async () => {
    const first = await rewrittenElsewhere();
    await magicEdit(gateway, noteId);
    await deliver(first);
    const second = await finishOne();
    await deliver(first);
    await deliver(second);
    await deliver(later(second, 60));
    expect(await published()).toEqual([first.timeStamp, second.timeStamp]);
  });

  it('has its event published even if its outcome was unknown', async () => {
    const first = await rewrittenElsewhere();
    gateway.sandbox.answerNext(changes.magicEdit.route, { status: 500, takesEffect: true });
    await magicEdit(gateway, noteId);
    const second = await finishOne();
    expect(await published()).toEqual([first.timeStamp, second.timeStamp]);
  });

  it('arms the note once for all calls with one key', async () => {
    const first = await rewrittenElsewhere();
    const key = { idempotencyKey: 'one' };
    await Promise.all([1, 2, 3].map(() => magicEdit(gateway, noteId, key)));
    const second = await finishOne();
    await deliver(later(second, 60));
    expect(await published()).toEqual([first.timeStamp, second.timeStamp]);
  });

  it('can be heard after the cursor of its answer', async () => {
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

describe.each(['magicEdit', 'regenerate'] as const)('%s, refused', (name: Change) => {
  it.each([
    ['a lock', 403, 'Progress note is locked'],
    ['a rejection', 400, 'no'],
    ['a missing note', 404, 'Progress note not found'],
    ['a conflict', 409, 'already under way'],
    ['an unknown token', 403, 'Access token is invalid'],
  ])('by %s leaves no arm behind', async (_, status, message) => {
    const first = await rewrittenElsewhere();
    gateway.sandbox.answerNext(changes[name].route, { status, body: envelope(status, message) });
    await change(gateway, name, noteId);
    await deliver(later(first, 60));
    expect(await published()).toEqual([first.timeStamp]);
  });
});

describe('an update', () => {
  it('arms nothing: no rewrite follows', async () => {
    const first = await rewrittenElsewhere();
    await change(gateway, 'update', noteId);
    await deliver(later(first, 60));
    expect(await published()).toEqual([first.timeStamp]);
  });
});
