import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway, tokenFor } from '../../support/gateway.ts';
import { plainId } from '../../support/global-id.ts';
import { codesOf, envelope } from '../../support/mutation/edits.ts';

const ROUTE = 'POST /clients/:id/secondary-clinicians';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway();
});
afterAll(() => gateway.close());
afterEach(() => {
  gateway.sandbox.clearAnswers();
  gateway.sandbox.resetCounts();
});

async function assign(clinicianIds: readonly string[], clientId?: string, authorization?: string) {
  const answer = await gateway.query(
    `mutation($input: AssignSecondaryCliniciansInput!) { result: assignSecondaryClinicians(input: $input) {
      type: __typename ... on SecondaryCliniciansAssigned { client { clientId } raw }
      ... on InvalidInput { issues } } }`,
    { input: { clientId: clientId ?? gateway.sandbox.ids.client(0), clinicianIds } },
    authorization ? { authorization } : undefined,
  );
  return { ...answer, result: answer.data?.result };
}

const uuids = (count: number) =>
  Array.from({ length: count }, (_, n) => `8f14e45f-ceea-467f-a8d1-${String(n).padStart(12, '0')}`);

describe('assigning secondary clinicians', () => {
  it('sends each clinician once, and returns the response', async () => {
    const { clinician, client } = gateway.sandbox.ids;
    const [a, b] = [clinician(1), clinician(2)];
    const { result } = await assign([a, b, a.toUpperCase(), b]);
    expect(result).toEqual({
      type: 'SecondaryCliniciansAssigned',
      client: { clientId: client(0) },
      raw: { clientId: client(0), assigned: [a, b], skipped: [] },
    });
    expect(gateway.sandbox.requests.at(-1)?.body).toEqual({ clinicianIds: [a, b] });
    expect(gateway.sandbox.countOf(ROUTE)).toBe(1);
  });

  it('shows no response that names another client', async () => {
    gateway.sandbox.answerNext(ROUTE, { body: { clientId: gateway.sandbox.ids.client(1) } });
    const { result } = await assign(uuids(1));
    expect(result).toMatchObject({ type: 'SecondaryCliniciansAssigned', raw: null });
  });

  it('accepts 50 different clinicians, however often each is listed', async () => {
    gateway.sandbox.answerNext(ROUTE, { body: {} });
    const { result } = await assign([...uuids(50), ...uuids(50)]);
    expect(result.type).toBe('SecondaryCliniciansAssigned');
    expect(gateway.sandbox.requests.at(-1)?.body).toEqual({ clinicianIds: uuids(50) });
  });

  it.each([
    ['none', 0],
    ['51', 51],
  ])('rejects %s without a call', async (_, count) => {
    const { result } = await assign(uuids(count));
    expect(result.issues).toEqual([`"clinicianIds" must have 1 to 50 items, but got ${count}.`]);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('rejects an invalid id, or one of another type, without a call', async () => {
    const { client, clinician } = gateway.sandbox.ids;
    for (const id of ['x', '..', plainId('Client', client(0))])
      expect(codesOf(await assign([...uuids(1), id]))).toEqual(['BAD_USER_INPUT']);
    for (const id of ['x', '..', plainId('Clinician', clinician(0))])
      expect(codesOf(await assign(uuids(1), id))).toEqual(['BAD_USER_INPUT']);
    expect(gateway.sandbox.countOf()).toBe(0);
  });

  it('denies a client outside the viewer’s grants, and assigns no clinician', async () => {
    const { clinician, client } = gateway.sandbox.ids;
    const authorization = `Bearer ${await tokenFor([`clinician:${clinician(3)}`])}`;
    const { result } = await assign([clinician(3)], client(400), authorization);
    expect(result.type).toBe('NotFound');
    expect(gateway.sandbox.countOf('POST /clients/:clientId/secondary-clinicians')).toBe(0);
  });

  it('may assign a clinician of another clinic to the viewer’s client', async () => {
    const { clinician, client } = gateway.sandbox.ids;
    const authorization = `Bearer ${await tokenFor([`client:${client(1)}`])}`;
    const { result } = await assign([clinician(20)], client(1), authorization);
    expect(result.type).toBe('SecondaryCliniciansAssigned');
  });

  it('returns a rejection as InvalidInput, and a missing client as NotFound', async () => {
    gateway.sandbox.answerNext(ROUTE, { status: 400, body: envelope(400, 'not one of yours') });
    expect((await assign(uuids(1))).result).toEqual({
      type: 'InvalidInput',
      issues: ['not one of yours'],
    });
    expect((await assign(uuids(1), uuids(2)[1])).result.type).toBe('NotFound');
  });

  it('is sent up to three times, and succeeds with the third', async () => {
    gateway.sandbox.answerNext(ROUTE, { status: 503, times: 2 });
    const { result } = await assign([gateway.sandbox.ids.clinician(4)]);
    expect(result.type).toBe('SecondaryCliniciansAssigned');
    expect(gateway.sandbox.countOf(ROUTE)).toBe(3);
  });

  it('has an unknown outcome after three attempts, and its message says that repeating is safe', async () => {
    gateway.sandbox.answerNext(ROUTE, { status: 500, times: 9 });
    const { errors } = await assign([gateway.sandbox.ids.clinician(4)]);
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('so send it again, which is safe.'),
        extensions: { code: 'OUTCOME_UNKNOWN' },
      },
    ]);
    expect(gateway.sandbox.countOf(ROUTE)).toBe(3);
  });

  it('returns the client as it is now, and not from the page that proved access', async () => {
    const { client, clinic, clinician } = gateway.sandbox.ids;
    const rows = [{ id: client(1_100), firstName: 'Before' }];
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    gateway.sandbox.answerNext('GET /clinics/:id/clients', {
      body: { data: rows, meta },
      times: 1,
    });
    const authorization = `Bearer ${await tokenFor([`clinic:${clinic(3)}`])}`;
    const document = `mutation { result: assignSecondaryClinicians(input: {
      clientId: "${client(1_100)}", clinicianIds: ["${clinician(36)}"] }) {
      ... on SecondaryCliniciansAssigned { client { firstName } } } }`;
    const { data } = await gateway.query(document, {}, { authorization });
    expect(data.result.client.firstName).not.toBe('Before');
    expect(gateway.sandbox.countOf('GET /clinics/:id/clients')).toBe(2);
  });

  it('returns the client as it is after each of two assignments in one operation', async () => {
    const { client, clinic, clinician } = gateway.sandbox.ids;
    const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
    for (const firstName of ['Before', 'Between', 'After']) {
      const data = [{ id: client(1_380), firstName }];
      gateway.sandbox.answerNext('GET /clinics/:id/clients', { body: { data, meta } });
    }
    const one = (alias: string, nth: number) => `${alias}: assignSecondaryClinicians(input: {
      clientId: "${client(1_380)}", clinicianIds: ["${clinician(nth)}"] }) {
      ... on SecondaryCliniciansAssigned { client { firstName } } }`;
    const authorization = `Bearer ${await tokenFor([`clinic:${clinic(4)}`])}`;
    const document = `mutation { ${one('a', 6)} ${one('b', 7)} }`;
    const { data } = await gateway.query(document, {}, { authorization });
    expect(data.a.client.firstName).toBe('Between');
    expect(data.b.client.firstName).toBe('After');
  });

  it('invalidates the clinicians’ lists of clients, which may have one more', async () => {
    const { clinician } = gateway.sandbox.ids;
    const list = 'query($id: ID!) { clinician(id: $id) { clients(first: 1) { totalCount } } }';
    const read = () => gateway.query(list, { id: clinician(5) });
    await read();
    expect((await read()).extensions.upstream.calls).toBe(0);
    await assign([clinician(5)]);
    expect((await read()).extensions.upstream.calls).toBe(1);
  });

  it('invalidates the client’s clinic’s lists of clients, which can be filtered by clinician', async () => {
    const { client, clinic, clinician } = gateway.sandbox.ids;
    const list = `query($id: ID!, $clinician: ID) { clinic(id: $id) {
      all: clients(first: 1) { nodes { clientId } }
      clients(first: 1, filter: { clinicianId: $clinician }) { totalCount } } }`;
    const read = () => gateway.query(list, { id: clinic(0), clinician: clinician(6) });
    const { data } = await read();
    expect(data.clinic.all.nodes).toEqual([{ clientId: client(0) }]);
    expect((await read()).extensions.upstream.calls).toBe(0);
    await assign([clinician(6)], client(0));
    expect((await read()).extensions.upstream.calls).toBe(2);
  });

  it('invalidates a clinic’s list filtered by clinician, although no list has shown the client', async () => {
    const { client, clinic, clinician } = gateway.sandbox.ids;
    const list = `query($id: ID!, $clinician: ID) { clinic(id: $id) {
      clients(first: 1, filter: { clinicianId: $clinician }) { totalCount } } }`;
    const read = async () =>
      (await gateway.query(list, { id: clinic(2), clinician: clinician(26) })).extensions.upstream
        .calls;
    expect([await read(), await read()]).toEqual([1, 0]);
    await gateway.query(`mutation { assignSecondaryClinicians(input: {
      clientId: "${client(780)}", clinicianIds: ["${clinician(26)}"] }) { __typename } }`);
    expect(await read()).toBe(1);
  });
});
