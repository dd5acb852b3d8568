import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());

describe('a query from the root', () => {
  it('goes from organizations to clinics to clients', async () => {
    const { data, errors } = await gateway.query(`{
      organizations { totalCount nodes { name clinics(first: 1) { nodes { name clients(first: 3) {
        totalCount nodes { firstName lastName status } pageInfo { hasNextPage } } } } } }
    }`);
    expect(errors).toBeUndefined();
    expect(data.organizations.totalCount).toBe(2);
    const [clinic] = data.organizations.nodes[0].clinics.nodes;
    expect(clinic.clients.nodes).toHaveLength(3);
    expect(clinic.clients.pageInfo.hasNextPage).toBe(true);
  });

  it('makes 278 calls for 25 clients with ten sessions each and their notes, and none the second time', async () => {
    await using cold = await openGateway({ limits: { operationMs: 60_000 } });
    const clinicId = cold.sandbox.ids.clinic(0);
    const document = `query($id: ID!) { clinic(id: $id) { clients(first: 25) { nodes {
      sessions(first: 10) { nodes { progressNote { isLoading } } } } } } }`;
    const first = await cold.query(document, { id: clinicId });
    expect(first.extensions.upstream).toMatchObject({ estimated: 278, calls: 278 });
    const again = await cold.query(document, { id: clinicId });
    expect(again.extensions.upstream.calls).toBe(0);
  });
});
