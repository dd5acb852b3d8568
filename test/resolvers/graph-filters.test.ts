import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { plainId } from '../support/global-id.ts';
import { counted, failures } from '../support/graph/counted.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

const CLIENTS = `query($id: ID!, $filter: ClinicClientFilter) { clinic(id: $id) { clients(first: 100, filter: $filter) {
  totalCount nodes { clientId firstName lastName externalId email phoneNumber dateOfBirth status } } } }`;

const clientsWhere = async (filter: object) => {
  const answer = await counted(gateway, CLIENTS, { id: ids.clinic(0), filter });
  return { ...answer, clients: answer.data?.clinic.clients?.nodes as Json[] };
};
const lastQuery = () => gateway.sandbox.requests.at(-1)?.query ?? {};

describe('filters of clients', () => {
  it.each(['externalId', 'email', 'phoneNumber'])('finds one by %s in one call', async (name) => {
    const { clients } = await clientsWhere({ lastName: 'x-nobody' });
    expect(clients).toEqual([]);
    const [wanted] = (await clientsWhere({ clinicianId: ids.clinician(2) })).clients;
    const { clients: found, calls } = await clientsWhere({ [name]: wanted[name] });
    expect([found, calls]).toEqual([[wanted], 1]);
    expect(lastQuery()).toMatchObject({ [name]: wanted[name], page: '1' });
  });

  it.each(['firstName', 'lastName', 'dateOfBirth', 'status'])('filters by %s', async (name) => {
    const [wanted] = (await clientsWhere({ clinicianId: ids.clinician(2) })).clients;
    const { clients } = await clientsWhere({ [name]: wanted[name] });
    expect(clients.map((client) => client[name])).toEqual(clients.map(() => wanted[name]));
    expect(clients).toContainEqual(wanted);
  });

  it('searches free text in both names, and combines fields with AND', async () => {
    const [wanted] = (await clientsWhere({ clinicianId: ids.clinician(2) })).clients;
    const name = `${wanted.lastName.toLowerCase()} ${wanted.firstName}`;
    const { clients } = await clientsWhere({ name, dateOfBirth: wanted.dateOfBirth });
    expect(clients).toEqual([wanted]);
  });

  it('accepts the clinician as a UUID or a global id: the same list, requested once', async () => {
    const bare = await clientsWhere({ clinicianId: ids.clinician(5) });
    expect(bare.calls).toBe(4);
    const global = await clientsWhere({ clinicianId: plainId('Clinician', ids.clinician(5)) });
    expect([global.clients, global.calls]).toEqual([bare.clients, 0]);
  });

  it.each(['+12015550100', 'a&b=c', 'ä ö?#/%2e', 'x y+z', '"; --', '\r\nAccess-Token: y'])(
    'sends %j unchanged',
    async (text) => {
      const field = text.startsWith('+') ? 'phoneNumber' : 'firstName';
      await clientsWhere({ [field]: text });
      expect(lastQuery()).toEqual({ [field]: text, page: '1' });
    },
  );

  it('treats null and an empty filter as no filter', async () => {
    const plain = await counted(gateway, CLIENTS, { id: ids.clinic(4) });
    const empty = await counted(gateway, CLIENTS, { id: ids.clinic(4), filter: { email: null } });
    expect(empty.data).toEqual(plain.data);
    expect(empty.calls).toBe(0);
  });

  it('rejects a phone number without its calling code before any call', async () => {
    for (const phoneNumber of ['2015550100', '(201) 555-0100']) {
      const answer = await clientsWhere({ phoneNumber });
      expect([failures(answer), answer.calls]).toEqual([['clinic.clients: BAD_USER_INPUT'], 0]);
      expect(answer.errors?.[0]?.message).not.toContain('201');
    }
  });

  it.each(['externalId', 'firstName', 'lastName', 'name', 'email', 'phoneNumber', 'clinicianId'])(
    'rejects %s that is empty, blank or over 200 characters, before any call',
    async (field) => {
      for (const text of ['', ' ', `+${'x'.repeat(200)}`]) {
        const answer = await clientsWhere({ [field]: text });
        expect([failures(answer), answer.calls]).toEqual([['clinic.clients: BAD_USER_INPUT'], 0]);
        const issue = `"${field}" must have 1 to 200 characters and not be blank, but got ${text.length}`;
        expect(answer.errors?.[0]?.extensions.issues).toEqual([issue]);
      }
    },
  );

  it('accepts 200 characters, and names every invalid field', async () => {
    const name = 'x'.repeat(200);
    expect((await clientsWhere({ name })).clients).toEqual([]);
    expect(lastQuery()).toEqual({ name, page: '1' });
    const { errors } = await clientsWhere({ name: '', email: '', firstName: 'x' });
    const named = [expect.stringContaining('"name"'), expect.stringContaining('"email"')];
    expect(errors?.[0]?.extensions.issues).toEqual(named);
  });

  it('rejects a date that does not exist, without echoing it', async () => {
    for (const dateOfBirth of ['1990-02-30', '1990-2-3', '1990-02-03T00:00:00Z', 19900203]) {
      const answer = await clientsWhere({ dateOfBirth });
      expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
      expect([answer.calls, answer.errors?.[0]?.message]).toEqual([
        0,
        expect.not.stringContaining('1990'),
      ]);
    }
  });

  it('filters a clinician’s clients', async () => {
    const document = `query($id: ID!, $filter: ClientFilter) { clinician(id: $id) { clients(filter: $filter) { nodes { status } } } }`;
    const { data } = await counted(gateway, document, {
      id: ids.clinician(1),
      filter: { status: 'ARCHIVED' },
    });
    for (const { status } of data.clinician.clients.nodes) expect(status).toBe('ARCHIVED');
    expect(lastQuery()).toEqual({ status: 'archived', page: '1' });
  });
});

describe('filters of clinicians and assessments', () => {
  it.each(['id', 'firstName', 'lastName', 'email', 'externalId'])(
    'finds clinicians by %s',
    async (name) => {
      const document = `query($id: ID!, $filter: ClinicianFilter) { clinic(id: $id) { clinicians(filter: $filter) { nodes {
      raw } } } }`;
      const { data } = await counted(gateway, document, { id: ids.clinic(1) });
      const { raw } = data.clinic.clinicians.nodes[3];
      const found = await counted(gateway, document, {
        id: ids.clinic(1),
        filter: { [name]: raw[name] },
      });
      expect(found.data.clinic.clinicians.nodes).toContainEqual({ raw });
      expect(lastQuery()).toEqual({ [name]: raw[name], page: '1' });
    },
  );

  it.each(['id', 'firstName', 'lastName', 'email', 'externalId'])(
    'rejects an empty %s of clinicians before any call',
    async (name) => {
      const document = `query($id: ID!, $filter: ClinicianFilter) { clinic(id: $id) { clinicians(filter: $filter) { totalCount } } }`;
      const variables = { id: ids.clinic(1), filter: { [name]: '' } };
      const answer = await counted(gateway, document, variables);
      expect([failures(answer), answer.calls]).toEqual([['clinic.clinicians: BAD_USER_INPUT'], 0]);
      expect(answer.errors?.[0]?.message).toContain(`"${name}"`);
    },
  );

  it.each([
    [true, { defaultOnly: 'true', page: '1' }],
    [false, { defaultOnly: 'false', page: '1' }],
    [null, { page: '1' }],
  ])('passes defaultOnly: %s on', async (defaultOnly, sent) => {
    const document = `query($id: ID!, $defaultOnly: Boolean) { clinic(id: $id) { assessments(first: 10, defaultOnly: $defaultOnly) {
      nodes { raw } } } }`;
    const { data } = await counted(gateway, document, { id: ids.clinic(2), defaultOnly });
    expect(lastQuery()).toEqual(sent);
    const flags = data.clinic.assessments.nodes.map(({ raw }: Json) => raw.isDefault);
    expect(flags.every(Boolean)).toBe(defaultOnly === true);
  });
});

const rows = (...data: readonly object[]) => ({
  body: {
    data,
    meta: { totalItems: data.length, totalPages: 1, itemsPerPage: 10, currentPage: 1 },
  },
});
const ODD = `query($id: ID!) { clinician(id: $id) { clients { totalCount nodes { clientId status dateOfBirth email raw } } } }`;
const row = (n: number, fields: object) => ({ id: ids.client(n), ...fields });

describe('a list with rows that are not as documented', () => {
  it('never shifts a date, and returns an invalid one as null', async () => {
    const dates = [
      '1990-03-01',
      '1990-03-01T23:30:00-11:00',
      '1990-03-01T00:00:00.000Z',
      '1990-02-30',
      '1990-13-01',
      '1990-03-011',
      '01.03.1990',
      19900301,
      null,
    ];
    gateway.sandbox.answerNext(
      '/clinicians/:id/clients',
      rows(...dates.map((dateOfBirth, n) => row(n, { dateOfBirth }))),
    );
    const { data } = await counted(gateway, ODD, { id: ids.clinician(21) });
    const shown = data.clinician.clients.nodes.map((node: Json) => node.dateOfBirth);
    expect(shown).toEqual([...Array(3).fill('1990-03-01'), ...Array(6).fill(null)]);
  });

  it('omits a row without an id, and keeps the others and the total', async () => {
    gateway.sandbox.answerNext(
      '/clinicians/:id/clients',
      rows(row(0, {}), { email: 'a@b.example' }, row(1, {})),
    );
    const { data, errors } = await counted(gateway, ODD, { id: ids.clinician(22) });
    expect(errors).toBeUndefined();
    expect(data.clinician.clients).toMatchObject({
      totalCount: 3,
      nodes: [{ clientId: ids.client(0) }, { clientId: ids.client(1) }],
    });
  });
});
