import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../support/sandbox/bodies.ts';
import { openQuietSandbox, type Caller } from '../support/sandbox/caller.ts';

let caller: Caller;
let clients: string;
let client: Row;

beforeAll(async () => {
  caller = await openQuietSandbox();
  clients = `/clinics/${caller.sandbox.ids.clinic(0)}/clients`;
  const row = (await caller.ask(`${clients}?page=3`)).body.data[4];
  if (!row) throw new Error('wanted a client');
  client = row;
});
afterAll(() => caller.sandbox.close());

const matching = (list: string, filter: Readonly<Record<string, string>>) =>
  caller.ask(`${list}?${new URLSearchParams(filter).toString()}`);

describe('the clients of a clinic', () => {
  it.each(['externalId', 'email', 'phoneNumber'] as const)('are found by %s', async (field) => {
    const { body } = await matching(clients, { [field]: client[field] });
    expect(body.data).toEqual([client]);
    expect(body.meta).toEqual({ totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 });
  });

  it.each(['firstName', 'lastName', 'dateOfBirth', 'status'] as const)(
    'are filtered by an exact %s',
    async (field) => {
      const { body } = await matching(clients, { [field]: client[field] });
      expect(new Set(body.data.map((row) => row[field]))).toEqual(new Set([client[field]]));
    },
  );

  it('match a name exactly, case included', async () => {
    const { body } = await matching(clients, { lastName: client.lastName.toLowerCase() });
    expect(body.meta).toMatchObject({ totalItems: 0, totalPages: 0 });
  });

  it('are searched by words of the name, in any case and order', async () => {
    const name = `${client.lastName.slice(0, 5)} ${client.firstName}`.toUpperCase();
    const { body } = await matching(clients, { name });
    expect(body.data).toContainEqual(client);
  });

  it('match all filters together', async () => {
    const { firstName, lastName, externalId } = client;
    expect((await matching(clients, { firstName, lastName, externalId })).body.data).toEqual([
      client,
    ]);
    const none = await matching(clients, { firstName, externalId: 'other' });
    expect(none.body.meta.totalItems).toBe(0);
  });

  it('are those of one clinician', async () => {
    const clinicianId = caller.sandbox.ids.clinician(2);
    const { body } = await matching(clients, { clinicianId });
    const own = await caller.ask(`/clinicians/${clinicianId}/clients`);
    expect(body).toEqual(own.body);
    expect(body.meta.totalItems).toBeGreaterThan(10);
  });

  it('are paged after filtering', async () => {
    const one = (await matching(clients, { status: 'active' })).body;
    const two = (await matching(clients, { status: 'active', page: '2' })).body;
    expect(two.meta).toEqual({ ...one.meta, currentPage: 2 });
    expect(two.data[0]?.id).not.toBe(one.data[0]?.id);
  });
});

describe('an invalid filter', () => {
  it('is a plain message for a phone number without a calling code', async () => {
    const { status, body } = await matching(clients, { phoneNumber: '2015550100' });
    expect(status).toBe(400);
    expect(body.error.message).toBe('phoneNumber should include calling code');
  });

  it.each([
    ['status', 'ACTIVE', /^status must be one of awaiting_invite, active/],
    ['dateOfBirth', '1990-02-31', /^dateOfBirth must be a valid ISO 8601/],
    ['clinicianId', 'no-uuid', /^clinicianId must be a UUID/],
  ])('is a list of fields for %s=%s', async (field, value, issue) => {
    const { status, body } = await matching(clients, { [field]: value });
    expect(status).toBe(400);
    expect(body.error.message).toMatchObject({ error: 'Bad Request', statusCode: 400 });
    expect(body.error.message.message[0]).toMatch(issue);
  });

  it('reads an unencoded plus as a space, as servers do', async () => {
    const { status } = await caller.ask(`${clients}?phoneNumber=${client.phoneNumber}`);
    expect(status).toBe(400);
  });
});

describe('the other lists', () => {
  it('find a clinician by every field', async () => {
    const list = `/clinics/${caller.sandbox.ids.clinic(1)}/clinicians`;
    const row = (await caller.ask(list)).body.data[3];
    for (const field of ['id', 'email', 'externalId', 'firstName', 'lastName'] as const) {
      const { body } = await matching(list, { [field]: row?.[field] ?? '' });
      expect(body.data).toContainEqual(row);
    }
    expect((await matching(list, { id: 'x' })).status).toBe(400);
  });

  it('have only default assessments on request', async () => {
    const list = `/clinics/${caller.sandbox.ids.clinic(0)}/assessments`;
    const all = (await caller.ask(list)).body;
    const some = (await matching(list, { defaultOnly: 'true' })).body;
    expect(all.meta.totalPages).toBe(2);
    expect(all.data[0]?.id).toBe('phq9');
    expect(some.data.every(({ isDefault }) => isDefault)).toBe(true);
    expect(some.meta.totalItems).toBe(3);
    expect((await matching(list, { defaultOnly: 'false' })).body).toEqual(all);
    expect((await matching(list, { defaultOnly: 'maybe' })).status).toBe(400);
  });
});
