import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createManualClock, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';

let gateway: Gateway;
/** Reads the same lists with a cache of its own. */
let other: Gateway;
let ids: Gateway['sandbox']['ids'];
/** Of each test another one. */
let nth = 0;
let clinician: string;
const clock = createManualClock();
beforeAll(async () => {
  gateway = await openGateway({ clock });
  other = await openGateway({ sandbox: gateway.sandbox });
  ({ ids } = gateway.sandbox);
});
beforeEach(() => {
  clinician = ids.clinician(nth);
  nth += 1;
});
afterAll(async () => {
  await other.close();
  await gateway.close();
});

const LIST = `query ($first: Int, $after: String, $filter: ClientFilter) { viewer { clinicians {
  clients(first: $first, after: $after, filter: $filter) { nodes { clientId } pageInfo { endCursor } } } } }`;
const CLIENT = 'query ($id: ID!) { client(id: $id) { firstName } }';
const FOUND = { firstName: expect.any(String) };

describe('a look-up in a list whose pages are cached', () => {
  it('finds a new client whom a filter has shown since', async () => {
    const viewer = await viewerWith(gateway, [`clinician:${clinician}`]);
    await viewer(LIST, { first: 100 });
    clock.advance(100);
    const id = gateway.sandbox.addClient(clinician, 'tail');
    const { data } = await other.query('query ($id: ID!) { client(id: $id) { externalId } }', {
      id,
    });
    const { externalId } = data.client;
    const filtered = await viewer(LIST, { filter: { externalId } });
    expect(filtered.data.viewer.clinicians[0].clients.nodes).toEqual([{ clientId: id }]);
    expect((await viewer(CLIENT, { id })).data.client).toEqual(FOUND);
  });

  it('finds a client who has moved up between two pages that were read seconds apart', async () => {
    const viewer = await viewerWith(gateway, [`clinician:${clinician}`]);
    const others = await viewerWith(other, [`clinician:${clinician}`]);
    const { data } = await others(LIST, { first: 100 });
    const clients = data.viewer.clinicians[0].clients.nodes;
    const { pageInfo } = (await viewer(LIST, { first: 20 })).data.viewer.clinicians[0].clients;
    gateway.sandbox.removeClient(clients[0].clientId);
    gateway.sandbox.addClient(clinician, 'tail');
    clock.advance(3_000);
    const rest = await viewer(LIST, { first: 100, after: pageInfo.endCursor });
    expect(rest.data.viewer.clinicians[0].clients.nodes).not.toContainEqual(clients[20]);
    clock.advance(500);
    expect((await viewer(CLIENT, { id: clients[20].clientId })).data.client).toEqual(FOUND);
  });

  it('makes no call for an absent client once the list was read through', async () => {
    const viewer = await viewerWith(gateway, [`clinician:${clinician}`]);
    await viewer(LIST, { first: 20 });
    clock.advance(3_000);
    const absent = { id: ids.client(1_101) };
    expect((await viewer(CLIENT, absent)).data.client).toBeNull();
    const { length } = gateway.sandbox.requests;
    clock.advance(500);
    expect((await viewer(CLIENT, absent)).data.client).toBeNull();
    expect(gateway.sandbox.requests).toHaveLength(length);
  });

  it('reads no page again that the operation has read a while ago, also if the client is absent', async () => {
    const grants = [`clinician:${clinician}`, `organization:${ids.organization(1)}`];
    const viewer = await viewerWith(gateway, grants);
    gateway.sandbox.resetCounts();
    const { sandbox } = gateway;
    const [ROUTE, BEFORE] = ['GET /clinicians/:id/clients', 'GET /organizations/:id/clinics'];
    const held = Promise.withResolvers<void>();
    const meta = { totalItems: 0, totalPages: 0, itemsPerPage: 10, currentPage: 1 };
    sandbox.answerNext(BEFORE, { heldUntil: held.promise, body: { data: [], meta } });
    const list = 'viewer { clinicians { clients(first: 20) { totalCount } } }';
    const answer = viewer(`query ($id: ID!) { ${list} client(id: $id) { firstName } }`, {
      id: ids.client(1_101),
    });
    await expect.poll(() => [sandbox.countOf(ROUTE), sandbox.countOf(BEFORE)]).toEqual([1, 1]);
    clock.advance(1_000);
    held.resolve();
    const { client, viewer: listed } = (await answer).data;
    expect(client).toBeNull();
    const { totalCount } = listed.clinicians[0].clients;
    expect(totalCount).toBeGreaterThan(10);
    expect(sandbox.countOf(ROUTE)).toBe(Math.ceil(totalCount / 10));
  });
});
