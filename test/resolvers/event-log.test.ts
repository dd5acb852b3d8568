import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Context } from '../../src/context.ts';
import type { EventHub } from '../../src/events/event-hub.ts';
import type { EventFilter } from '../../src/events/filter.ts';
import { eventsSince } from '../../src/resolvers/event-log.ts';
import { createUsage } from '../../src/rest/partner.ts';
import { listen } from '../support/access/listener.ts';
import { viewerWith } from '../support/access/viewers.ts';
import { bytesOf, delivery, macOf, uuid } from '../support/events/deliveries.ts';
import { openTestStore } from '../support/events/open-webhook-receiver.ts';
import { sessionId } from '../support/global-id.ts';
import { append, createFilledStore, openTestHub, turn } from '../support/events/open-hub.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

/** A busy week has 150,000; filling the log with that many takes some seconds. */
const EVENTS = Number(process.env['LOG_EVENTS'] ?? 4_000);
const MAX_READ = 2_000;

const [ORGANIZATION, SESSION, OTHER_SESSION] = [uuid(), uuid(), uuid()];
let storeDir: string;
let gateway: Gateway;

/** The last two thousand events are of two sessions, in turn. */
function deliveriesFrom(first: number, count: number) {
  return Array.from({ length: count }, (_, i) => {
    const n = first + i;
    const session = n >= EVENTS - 2_000 && { sessionId: n % 2 === 0 ? SESSION : OTHER_SESSION };
    return delivery('progress_note_generated', { organizationId: ORGANIZATION, ...session });
  });
}

beforeAll(async () => {
  storeDir = await createFilledStore(deliveriesFrom(0, EVENTS));
  gateway = await openGateway({ storeDir });
}, 300_000);
afterAll(async () => {
  await gateway.close();
  rmSync(storeDir, { recursive: true, force: true });
});

const NOTHING = `query($after: EventCursor) { events(first: 100, after: $after, filter: { types: [TRANSCRIPT_READY] }) {
  nodes { cursor } pageInfo { hasNextPage endCursor } } }`;

describe('Query.events', () => {
  it('reads two thousand events per operation, and continues from its cursor', async () => {
    let after: string | undefined;
    let operations = 0;
    for (let hasNextPage = true; hasNextPage; operations += 1) {
      const { data, errors } = await gateway.query(NOTHING, { after });
      expect([errors, data?.events.nodes]).toEqual([undefined, []]);
      ({ hasNextPage, endCursor: after } = data.events.pageInfo);
      if (operations > EVENTS / MAX_READ) break;
    }
    expect(operations).toBe(EVENTS / MAX_READ + 1);
  });

  it('counts all its fields and aliases together', async () => {
    const field =
      'events(first: 1, filter: { types: [TRANSCRIPT_READY] }) { pageInfo { endCursor hasNextPage } }';
    const { data } = await gateway.query(`{ a: ${field} b: ${field} c: ${field} d: ${field} }`);
    const windows: { pageInfo: { endCursor: string; hasNextPage: boolean } }[] =
      Object.values(data);
    expect(windows.every(({ pageInfo }) => pageInfo.hasNextPage)).toBe(true);
    const alone = await gateway.query(NOTHING);
    expect(windows.map(({ pageInfo }) => pageInfo.endCursor)).not.toContain(
      alone.data.events.pageInfo.endCursor,
    );
  });

  it('returns every event under a viewer’s grants, however many pages have none', async () => {
    const query = `query($after: EventCursor) { events(first: 100, after: $after) {
      nodes { receivedAt } pageInfo { hasNextPage endCursor } } }`;
    const ask = await viewerWith(gateway, [`session:${SESSION}`]);
    let after: string | undefined;
    let found = 0;
    for (let hasNextPage = true; hasNextPage;) {
      const { data } = await ask(query, { after });
      found += data.events.nodes.length;
      ({ hasNextPage, endCursor: after } = data.events.pageInfo);
    }
    expect(found).toBe(1_000);
  });

  it.each([0, 101])('is not executed for the first %d events', async (first) => {
    const headers = { accept: 'application/graphql-response+json' };
    const document = 'query($first: Int) { events(first: $first) { nodes { cursor } } }';
    const { status, data, errors } = await gateway.query(document, { first }, headers);
    const issues = [`"first" must be between 1 and 100, but got ${first}`];
    expect([status, data]).toEqual([400, undefined]);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', issues } }]);
  });

  it('reads nothing for a viewer without grants, or for an empty list of types', async () => {
    const empty = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
    const withoutGrants = await viewerWith(gateway, []);
    expect((await withoutGrants(NOTHING)).data.events).toEqual(empty);
    const none = NOTHING.replace('[TRANSCRIPT_READY]', '[]');
    expect((await gateway.query(none)).data.events).toEqual(empty);
  });
});

describe('Session.events', () => {
  it('counts towards the same limit, and fails rather than omit events', async () => {
    const ask = await viewerWith(gateway, [`session:${SESSION}`, `session:${OTHER_SESSION}`]);
    const field = (id: string) => `session(id: "${id}") { events { receivedAt } }`;
    const one = await ask(`{ ${field(SESSION)} }`);
    expect(one.data.session.events).toHaveLength(1_000);
    const many = await ask(
      `{ a: ${field(SESSION)} b: ${field(OTHER_SESSION)} c: ${field(SESSION)} d: events(first: 1, filter: { types: [MDM_ELEMENTS_IDENTIFIED] }) { pageInfo { hasNextPage } } }`,
    );
    expect(many.errors).toMatchObject([
      {
        message:
          'One operation reads at most 2000 events: ask for the events of fewer sessions at once.',
        extensions: { code: 'QUERY_TOO_EXPENSIVE' },
      },
    ]);
  });

  it('counts the records of a list that are null, in one error', async () => {
    const query = `query E($ids: [ID!]!) { nodes(ids: $ids) { ... on Session { events { cursor } } } }`;
    const id = (index: number) => sessionId(gateway, SESSION, gateway.sandbox.ids.client(index));
    const { data, errors } = await gateway.query(query, { ids: [0, 1, 2, 3, 4].map(id) });
    expect(data!['nodes'].filter(Boolean)).toHaveLength(2);
    expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_EXPENSIVE', count: 3 } }]);
  });
});

describe('a log that is read continuously', () => {
  it('delays neither health checks nor webhooks, by query and by replay', async () => {
    const aliases = Array.from(
      { length: 10 },
      (_, i) => `a${i}: events(filter: { types: [TRANSCRIPT_READY] }) { nodes { cursor } }`,
    );
    const alone = await workPerResponse();
    const stop = new AbortController();
    const { data } = await gateway.query('{ events(first: 1) { edges { cursor } } }');
    const [{ cursor }] = data.events.edges;
    const readers = Array.from({ length: 8 }, async () => {
      while (!stop.signal.aborted) await gateway.query(`{ ${aliases.join(' ')} }`);
    });
    const replays = await Promise.all(
      Array.from({ length: 8 }, () =>
        listen(
          gateway,
          ['partner'],
          'subscription($after: EventCursor) { events(after: $after, types: [TRANSCRIPT_READY]) { cursor } }',
          { after: cursor },
        ),
      ),
    );
    const beside = await workPerResponse();
    stop.abort();
    await Promise.all(readers);
    for (const replay of replays) replay.close();
    // Twice as much as alone, for each reads some of the log first.
    expect(beside.health).toBeLessThan(50 + 5 * alone.health);
    expect(beside.webhooks).toBeLessThan(50 + 5 * alone.webhooks);
  });

  it('is not read further when the operation is over', async () => {
    await using store = await openTestStore();
    for (let at = 0; at < 3; at += 1) await append(store.log, ...deliveriesFrom(at * 400, 400));
    await using opened = await openTestHub(store.log);
    const usage = createUsage();
    let reads = 0;
    const scan: EventHub['scan'] = (after, limit) => {
      reads += 1;
      if (reads === 3) usage.end();
      return opened.hub.scan(after, limit);
    };
    await eventsSince(
      {},
      { types: ['transcript_ready'] },
      contextOf({ ...opened.hub, scan }, usage),
    );
    expect(reads).toBe(3);
  });

  it('continues from the last event that was read before the operation was over', async () => {
    await using store = await openTestStore();
    await append(store.log, ...deliveriesFrom(0, 300));
    await using opened = await openTestHub(store.log);
    const usage = createUsage();
    const scan: EventHub['scan'] = async (after, limit) => {
      const read = await opened.hub.scan(after, limit);
      usage.end();
      return read;
    };
    const cut = await eventsSince({ first: 100 }, {}, contextOf({ ...opened.hub, scan }, usage));
    let { pageInfo } = cut;
    let found = cut.edges.length;
    while (pageInfo.hasNextPage) {
      const args = { first: 100, after: pageInfo.endCursor };
      const next = await eventsSince(args, {}, contextOf(opened.hub, createUsage()));
      found += next.edges.length;
      ({ pageInfo } = next);
    }
    expect(found).toBe(300);
  });

  it.each<EventFilter>([{}, { types: ['transcript_ready'] }])(
    'has expired if the log is replaced in between (filter: %o)',
    async (filter) => {
      await using former = await openTestStore();
      await using other = await openTestStore();
      let { log } = former;
      for (const each of [former, other]) await append(each.log, ...deliveriesFrom(0, 150));
      await using opened = await openTestHub({
        ...log,
        read: (...args) => log.read(...args),
        bounds: () => log.bounds(),
        changed: turn,
      });
      const scan: EventHub['scan'] = async (after, limit) => {
        const read = await opened.hub.scan(after, limit);
        ({ log } = other);
        await expect.poll(() => opened.problems).toEqual(['lost']);
        return read;
      };
      const hub: EventHub = Object.create(opened.hub, { scan: { value: scan } });
      const read = eventsSince({ first: 100 }, filter, contextOf(hub, createUsage()));
      await expect(read).rejects.toMatchObject({ code: 'EVENTS_EXPIRED' });
    },
  );
});

const contextOf = (hub: EventHub, usage: ReturnType<typeof createUsage>) =>
  ({
    hub,
    viewer: { grants: ['partner'] },
    reach: { isPartner: true },
    usage,
    eventBudget: { left: MAX_READ },
    doNotCache: () => undefined,
  }) as unknown as Context;

/** How long the process works until the response is read, in milliseconds: other processes do not count. */
async function cpuMsOf(run: () => Promise<Response>): Promise<number> {
  const began = process.cpuUsage();
  const response = await run();
  await response.arrayBuffer();
  expect(response.status).toBe(200);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** Of twenty health checks and webhooks. */
async function workPerResponse() {
  const health: number[] = [];
  const webhooks: number[] = [];
  for (let i = 0; i < 20; i += 1) {
    health.push(await cpuMsOf(() => fetch(`${gateway.url}/healthz`)));
    webhooks.push(await cpuMsOf(deliverOne));
  }
  return { health: median(health), webhooks: median(webhooks) };
}

function deliverOne(): Promise<Response> {
  const body = bytesOf(delivery('progress_note_generated', { organizationId: ORGANIZATION }));
  const signature = macOf(body, gateway.sandbox.connection.clientSecret);
  return fetch(`${gateway.url}/webhooks`, {
    method: 'POST',
    headers: { 'x-signature': signature },
    body: new Uint8Array(body),
  });
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity;
