import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createAdvancingClock, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let clock: ReturnType<typeof createAdvancingClock>;
beforeEach(async () => {
  clock = createAdvancingClock();
  gateway = await openGateway({ clock });
  ({ ids } = gateway.sandbox);
});
afterEach(() => gateway.close());

const LIST = `query ($first: Int, $after: String, $filter: ClientFilter) { viewer { clinicians {
  clients(first: $first, after: $after, filter: $filter) { nodes { clientId } pageInfo { endCursor } } } } }`;
const CLIENT = 'query ($id: ID!) { client(id: $id) { firstName } }';
const FOUND = { firstName: expect.any(String) };

describe('a look-up in a list whose pages are cached', () => {
  it('finds a new client whom a filter has shown since', async () => {
    const viewer = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`]);
    await viewer(LIST, { first: 100 });
    const id = gateway.sandbox.addClient(ids.clinician(0), 'tail');
    await using other = await openGateway({ sandbox: gateway.sandbox });
    const { data } = await other.query('query ($id: ID!) { client(id: $id) { externalId } }', {
      id,
    });
    const { externalId } = data.client;
    const filtered = await viewer(LIST, { filter: { externalId } });
    expect(filtered.data.viewer.clinicians[0].clients.nodes).toEqual([{ clientId: id }]);
    expect((await viewer(CLIENT, { id })).data.client).toEqual(FOUND);
  });
});
