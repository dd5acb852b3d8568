import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../../sandbox/sandbox.ts';
import { systemClock } from '../../../src/clock.ts';
import { transcriptReady } from '../../support/access/transcript-ready.ts';
import { MINUTE_PAST, createManualClock, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, DETERMINISTIC, openGateway } from '../../support/gateway.ts';
import { artifactId, sessionId } from '../../support/global-id.ts';
import { counted } from '../../support/graph/counted.ts';
import { answer, envelope, openUpstream, pageBody, uuid } from '../../support/rest/upstream.ts';

const NOWHERE = 'd0d0d0d0-aaaa-4bbb-8ccc-dddddddddddd';

let sandbox: Sandbox;
let ids: Sandbox['ids'];
let gateway: Gateway;
/** The partner's token does not expire. */
const clock = { ...createManualClock(), wallNow: systemClock.wallNow };
beforeAll(async () => {
  sandbox = await openSandbox({ switches: DETERMINISTIC });
  ({ ids } = sandbox);
  gateway = await openGateway({ sandbox, clock });
  sandbox.deliverTo(`${gateway.url}/webhooks`);
});
afterAll(async () => {
  await gateway.close();
  await sandbox.close();
});

/** All that was read before has expired, except where clients were last seen. */
const expire = () => clock.advance(MINUTE_PAST);

/** Queries once the caches have expired. */
async function askedFirst(document: string, variables: object = {}) {
  expire();
  return await counted(gateway, document, variables);
}

const at = (field: string) => `query($id: ID!, $near: ID) { ${field} }`;
const ORGANIZATION = 'query($id: ID!) { organization(id: $id) { name } }';
const CLINIC = at('clinic(id: $id, organizationId: $near) { name }');
const CLINICIAN = at('clinician(id: $id, clinicId: $near) { email }');
const CLIENT = at('client(id: $id, clinicId: $near) { lastName email }');
const CLIENT_OF_CLINICIAN = at('client(id: $id, clinicianId: $near) { lastName }');
const SESSION = at('session(id: $id, clientId: $near) { raw }');

it.each([
  ['and the list is shorter', false],
  ['and the list is as long as before', true],
])('finds a row that has moved to a page which is cached without it, %s', async (_, isAdded) => {
  const clinician = ids.clinician(37);
  const { data } = await gateway.query(
    'query($id: ID!) { clinician(id: $id) { clients(first: 100) { nodes { clientId lastName } } } }',
    { id: clinician },
  );
  const [first, ...others] = data.clinician.clients.nodes;
  const moved = others[9];
  expire();
  await gateway.query('query($id: ID!) { clinician(id: $id) { clients { nodes { id } } } }', {
    id: clinician,
  });
  sandbox.removeClient(first.clientId);
  if (isAdded) sandbox.addClient(clinician, 'tail');
  clock.advance(1);
  const found = await gateway.query(CLIENT_OF_CLINICIAN, { id: moved.clientId, near: clinician });
  expect(found.data.client).toEqual({ lastName: moved.lastName });
});

it('reads a list once to see that a client has left it, although an earlier event names it', async () => {
  const [clientId, clinicianId] = [ids.client(1_102), ids.clinician(38)];
  sandbox.emit(transcriptReady({ clientId, clinicianId, clinicId: ids.clinic(3) }));
  await sandbox.delivered();
  const ask = await viewerWith(gateway, [`clinician:${clinicianId}`]);
  const { data } = await ask(
    '{ viewer { clinicians { clients(first: 100) { totalCount nodes { clientId } } } } }',
  );
  const { totalCount, nodes } = data.viewer.clinicians[0].clients;
  expect(nodes).toContainEqual({ clientId });
  sandbox.moveClient(clientId, ids.clinician(44));
  expire();
  const left = await ask('query($id: ID!) { client(id: $id) { email } }', { id: clientId });
  expect(left.data.client).toBeNull();
  expect(left.extensions.upstream.calls).toBe(Math.ceil((totalCount - 1) / 10));
});

describe('a record known by id alone', () => {
  it('costs a partner no call until an attribute is selected', async () => {
    const { data, calls } = await counted(
      gateway,
      `{ organization(id: "${ids.organization(1)}") { id organizationId }
         clinic(id: "${ids.clinic(4)}") { id clinicId }
         clinician(id: "${ids.clinician(20)}") { id clinicianId }
         client(id: "${ids.client(700)}") { id clientId }
         session(id: "${ids.session(3, 3)}") { id sessionId } }`,
    );
    expect(data.client.clientId).toBe(ids.client(700));
    expect(data.session.sessionId).toBe(ids.session(3, 3));
    expect(calls).toBe(0);
  });

  it('returns its lists without being looked up', async () => {
    const lists = `{ clinic(id: "${ids.clinic(2)}") { clinicians(first: 1) { totalCount } }
      client(id: "${ids.client(5)}") { sessions { totalCount } } }`;
    expect((await counted(gateway, lists)).calls).toBe(2);
  });

  it('is looked up once, however many fields need it', async () => {
    const id = ids.organization(1);
    const document = `{ a: organization(id: "${id}") { name raw } b: organization(id: "${id}") { name } }`;
    expect((await counted(gateway, document)).calls).toBe(1);
  });
});

describe('a look-up by a partner', () => {
  it.each([
    ['an organization: their list', ORGANIZATION, () => ids.organization(1), 1],
    ['a clinic: organizations, then the list of each', CLINIC, () => ids.clinic(4), 3],
    ['a clinician: a filter for each clinic', CLINICIAN, () => ids.clinician(20), 4],
    ['a client: the lists of clinics, four pages at a time', CLIENT, () => ids.client(25), 7],
  ])('%s', async (_name, document, id, calls) => {
    const found = await askedFirst(document, { id: id() });
    expect([found.errors, found.calls]).toEqual([undefined, calls]);
  });

  it.each([
    ['a clinic in its organization', CLINIC, () => [ids.clinic(4), ids.organization(1)], 1],
    ['a clinician in their clinic', CLINICIAN, () => [ids.clinician(20), ids.clinic(1)], 1],
    ['a client in their clinic', CLIENT, () => [ids.client(805), ids.clinic(2)], 5],
    [
      'a client in their clinician’s list',
      CLIENT_OF_CLINICIAN,
      () => [ids.client(25), ids.clinician(12)],
      1,
    ],
    ['a session in its client’s list', SESSION, () => [ids.session(9, 2), ids.client(9)], 1],
  ])('takes few calls where the parent is named: %s', async (_name, document, pair, calls) => {
    const [id, near] = pair();
    const found = await counted(gateway, document, { id, near });
    expect([found.errors, found.calls]).toEqual([undefined, calls]);
  });

  it.each([
    ['a clinic', CLINIC, () => [ids.clinic(4), ids.organization(0)]],
    ['a clinician', CLINICIAN, () => [ids.clinician(20), ids.clinic(0)]],
    ['a client', CLIENT_OF_CLINICIAN, () => [ids.client(0), ids.clinician(30)]],
    ['a session', SESSION, () => [ids.session(0, 0), ids.client(4)]],
  ])(
    'reads no list but that of the named parent: %s is null there',
    async (_name, document, pair) => {
      const [id, near] = pair();
      const { data, errors, calls } = await askedFirst(document, { id, near });
      expect([Object.values(data), errors]).toEqual([[null], undefined]);
      expect(calls).toBeLessThanOrEqual(4);
    },
  );

  it('of a session finds nothing where the arguments name another client', async () => {
    const other = ids.client(4);
    const signed = sessionId({ sandbox }, ids.session(0, 0), ids.client(0));
    const contradicted = await askedFirst(at('session(id: $id, clientId: $near) { sessionId }'), {
      id: signed,
      near: other,
    });
    expect([contradicted.data.session, contradicted.calls]).toEqual([null, 0]);
    // The list of the named client is read in any case, for the note's id.
    const WITH_NOTE = at('session(id: $id, clientId: $near) { sessionId progressNote { id } }');
    const ask = (near: string) => askedFirst(WITH_NOTE, { id: ids.session(0, 0), near });
    expect((await ask(other)).data.session).toBeNull();
    const confirmed = await ask(ids.client(0));
    expect([confirmed.data.session.sessionId, confirmed.calls]).toEqual([ids.session(0, 0), 2]);
  });

  it('of a session that only its note names fails with an error that names `session(id:)` and the argument', async () => {
    const NOTE = at('progressNote(id: $id, clientId: $near) { isLoading session { raw } }');
    const id = ids.note(0, 2);
    for (const near of [undefined, ids.client(0)]) {
      const { data, errors } = await askedFirst(NOTE, { id, ...(near && { near }) });
      expect(data.progressNote).toEqual({ isLoading: false, session: { raw: null } });
      expect(errors?.[0]?.message).toContain('add `clientId` to `session(id:)`');
    }
  });

  it('of a session without its client is not made: the error names the argument to add', async () => {
    for (const id of [ids.session(0, 2), NOWHERE]) {
      const { data, errors, calls } = await askedFirst(SESSION, { id });
      expect([data.session, calls]).toEqual([null, 0]);
      expect(errors).toMatchObject([
        { message: expect.stringContaining('add `clientId`'), extensions: { code: 'NOT_FOUND' } },
      ]);
    }
  });

  it('of a session without its client uses the client that its newest event names', async () => {
    const id = ids.session(0, 3);
    sandbox.emit(transcriptReady({ sessionId: id, clientId: ids.client(0) }));
    await sandbox.delivered();
    const { data, calls } = await askedFirst(SESSION, { id });
    expect([data.session, calls]).toEqual([{ raw: expect.any(Object) }, 1]);
  });

  describe('with LOOKUP_MAX_CALLS at 5', () => {
    let small: Gateway;
    beforeEach(expire);
    beforeAll(async () => {
      small = await openGateway({ sandbox, clock, env: { LOOKUP_MAX_CALLS: '5' } });
    });
    afterAll(() => small.close());

    it('finds a record on the last page that the limit allows', async () => {
      const { data, calls } = await counted(small, CLIENT, { id: ids.client(25) });
      expect([data.client?.lastName, calls]).toEqual([expect.any(String), 5]);
    });

    it('gets further when it is repeated: cached pages do not count', async () => {
      const repeated = [];
      for (let i = 0; i < 3; i += 1)
        repeated.push(await counted(small, CLIENT, { id: ids.client(95) }));
      expect(repeated.map(({ data }) => data.client !== null)).toEqual([false, false, true]);
      for (const { calls } of repeated) expect(calls).toBeLessThanOrEqual(5);
    });

    it('ends there, with an error that names the argument', async () => {
      for (const id of [ids.client(1_000), NOWHERE]) {
        const { data, errors, calls } = await counted(small, CLIENT, { id });
        expect([data.client, calls <= 5]).toEqual([null, true]);
        expect(errors).toMatchObject([
          {
            message: expect.stringMatching(/within 5 calls.*add `clinicId` or `clinicianId`/),
            extensions: { code: 'NOT_FOUND' },
          },
        ]);
        expect(errors?.[0]?.message).not.toMatch(/\//);
      }
    });

    it('ends there for a partner with other grants too', async () => {
      const ask = await viewerWith(small, ['partner', `organization:${ids.organization(0)}`]);
      const { data, extensions } = await ask(CLIENT, { id: NOWHERE });
      expect([data.client, extensions.upstream.calls]).toEqual([null, 5]);
    });
  });

  it('of a record in no list is null, without an error', async () => {
    const { data, errors } = await askedFirst(
      `{ organization(id: "${NOWHERE}") { name } clinic(id: "${NOWHERE}") { name }
         clinician(id: "${NOWHERE}") { email } }`,
    );
    expect([data, errors]).toEqual([
      { organization: null, clinic: null, clinician: null },
      undefined,
    ]);
  });

  it('uses first what this operation has read', async () => {
    const { data, calls } = await askedFirst(
      `{ organization(id: "${ids.organization(1)}") { clinics(first: 1) { nodes { name
        clients(first: 1) { nodes { clinic { clinicians(first: 1) { nodes { clinic { name } } } } } } } } } }`,
    );
    const [{ name, clients }] = data.organization.clinics.nodes;
    expect(clients.nodes[0].clinic.clinicians.nodes[0].clinic.name).toBe(name);
    expect(calls).toBe(3);
  });
});

describe('a look-up by a viewer', () => {
  const cost = async (grants: string[], document: string, variables: object) => {
    expire();
    const ask = await viewerWith(gateway, grants);
    const { data, errors, extensions } = await ask(document, variables);
    return { data, errors, calls: extensions.upstream.calls };
  };

  it('reads the granted lists, and nothing else', async () => {
    const grants = [`clinician:${ids.clinician(0)}`];
    sandbox.resetCounts();
    const hidden = await cost(grants, CLIENT, { id: ids.client(1) });
    expect([hidden.data.client, hidden.errors]).toEqual([null, undefined]);
    const routes = new Set(sandbox.requests.map(({ route }) => route));
    routes.delete('POST /partners/authenticate');
    expect([...routes]).toEqual(['GET /clinicians/:clinicianId/clients']);
    const made = await cost(grants, CLIENT, { id: NOWHERE });
    expect(made).toEqual(hidden);
  });

  it('takes no row of another parent that this operation has read', async () => {
    expire();
    const read = (nth: number) =>
      `clinic(id: "${ids.clinic(nth)}") { assessments { nodes { id } } }`;
    const { data } = await gateway.query(`{ ${read(0)} other: ${read(3)} }`);
    const [{ id }] = data.other.assessments.nodes;
    // The second grant takes a call, and by then the first clinic's page, which is cached, was read.
    const ask = await viewerWith(gateway, [
      `clinic:${ids.clinic(0)}`,
      `organization:${ids.organization(1)}`,
    ]);
    const both = await ask(`{ ${read(0)} node(id: "${id}") { id ... on Assessment { name } } }`);
    expect(both.data.node).toEqual({ id, name: expect.any(String) });
  });

  it('skips the list of a named parent that the viewer may not read', async () => {
    expire();
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
    await ask(`{ clinic(id: "${ids.clinic(0)}") { clients { nodes { clientId } } } }`);
    sandbox.resetCounts();
    const { data } = await ask(`{ client(id: "${ids.client(0)}", clinicId: "${ids.clinic(0)}",
      clinicianId: "${ids.clinician(20)}") { lastName } }`);
    expect(data.client.lastName).toEqual(expect.any(String));
    expect(sandbox.countOf('GET /clinicians/:clinicianId/clients')).toBe(0);
  });

  it('of a client that a grant names begins where the client was last seen', async () => {
    const list = `{ clinic(id: "${ids.clinic(3)}") { clients { nodes { clientId } } } }`;
    const [{ clientId }] = (await askedFirst(list)).data.clinic.clients.nodes;
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`, `client:${clientId}`]);
    sandbox.resetCounts();
    const { data } = await ask('{ viewer { clients { clientId firstName } } }', {});
    expect(data.viewer.clients).toEqual([{ clientId, firstName: expect.any(String) }]);
    // The page is cached.
    expect(sandbox.countOf()).toBe(0);
  });

  it('of a client begins with the list and the page where they were last seen', async () => {
    expire();
    const clinic = ids.clinic(2);
    const { data } = await gateway.query(
      `{ clinic(id: "${clinic}") { clients(last: 1) { nodes { clientId } } } }`,
    );
    const [{ clientId }] = data.clinic.clients.nodes;
    const ask = await viewerWith(gateway, [`organization:${ids.organization(0)}`]);
    const found = await ask(`{ client(id: "${clientId}") { clientId } }`);
    expect(found.data.client).toEqual({ clientId });
    // The organization's clinics: the page is cached.
    expect(found.extensions.upstream.calls).toBe(1);
  });

  it('of a client reads only the list that proves access, while the proof holds', async () => {
    expire();
    const ask = await viewerWith(gateway, [`organization:${ids.organization(0)}`]);
    const callsFor = async () =>
      (await ask(`{ client(id: "${ids.client(0)}") { lastName } }`)).extensions.upstream.calls;
    expect(await callsFor()).toBeGreaterThan(1);
    clock.advance(6_000);
    expect(await callsFor()).toBe(1);
    clock.advance(MINUTE_PAST);
    expect(await callsFor()).toBe(2);
  });

  it('of a record that a grant names begins with the lists of the other grants', async () => {
    await using small = await openGateway({ sandbox, env: { LOOKUP_MAX_CALLS: '1' } });
    const grants = [`clinician:${ids.clinician(44)}`, `client:${ids.client(1_380)}`];
    const ask = await viewerWith(small, [`clinic:${ids.clinic(4)}`, ...grants]);
    const { data, errors, extensions } = await ask(
      '{ viewer { clinicians { firstName } clients { firstName } } }',
    );
    expect(errors).toBeUndefined();
    const named = [{ firstName: expect.any(String) }];
    expect(data.viewer).toEqual({ clinicians: named, clients: named });
    expect(extensions.upstream.calls).toBe(2);
  });

  it('of a session by its global id costs the access check, and no more', async () => {
    const id = sessionId({ sandbox }, ids.session(0, 0), ids.client(0));
    const document = 'query($id: ID!) { session(id: $id) { sessionId } }';
    for (const [grant, calls] of [
      [`client:${ids.client(0)}`, 0],
      [`clinician:${ids.clinician(0)}`, 1],
      [`clinic:${ids.clinic(0)}`, 1],
      [`organization:${ids.organization(0)}`, 2],
    ] as const) {
      const found = await cost([grant], document, { id });
      expect([grant, found.data.session, found.calls]).toEqual([
        grant,
        { sessionId: ids.session(0, 0) },
        calls,
      ]);
    }
  });

  it('of a note by its UUID and the global id of its session costs no more than by its own', async () => {
    const [session, client] = [ids.session(0, 0), ids.client(0)];
    const args = { id: ids.note(0, 0), session: sessionId({ sandbox }, session, client) };
    const document =
      'query($id: ID!, $session: ID) { progressNote(id: $id, sessionId: $session) { id } }';
    const id = artifactId({ sandbox }, 'ProgressNote', session, client);
    for (const [grant, calls] of [
      ['partner', 1],
      [`client:${client}`, 1],
      [`clinician:${ids.clinician(0)}`, 2],
    ] as const) {
      const found = await cost([grant], document, args);
      expect([grant, found.data.progressNote, found.calls]).toEqual([grant, { id }, calls]);
    }
    const others = await cost([`client:${ids.client(1)}`], document, args);
    expect([others.data.progressNote, others.errors]).toEqual([null, undefined]);
  });

  it('of a session or note by a bare UUID names the arguments to add', async () => {
    const grants = [`clinic:${ids.clinic(0)}`];
    const { data, errors, calls } = await cost(
      grants,
      `{ session(id: "${ids.session(0, 0)}") { sessionId } progressNote(id: "${ids.note(0, 0)}") { note } }`,
      {},
    );
    expect([data, calls]).toEqual([{ session: null, progressNote: null }, 0]);
    expect(errors?.map(({ message }) => message)).toEqual([
      expect.stringContaining('add `clientId`'),
      expect.stringContaining('add `sessionId` and `clientId`'),
    ]);
  });
});

describe('a client whose list was read before a restart', () => {
  const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-lookup-'));
  afterAll(() => rmSync(storeDir, { recursive: true }));

  it('is found in one call, and in another list if they have moved', async () => {
    const moved = sandbox.addClient(ids.clinician(0), 'head');
    {
      await using first = await openGateway({ sandbox, storeDir });
      const list = `{ clinic(id: "${ids.clinic(0)}") { clients(first: 100) { nodes { id } } } }`;
      await first.query(list);
    }
    sandbox.moveClient(moved, ids.clinician(14));
    await using second = await openGateway({ sandbox, storeDir });
    const document = 'query($id: ID!) { client(id: $id) { email clinic { clinicId } } }';
    const { data, calls } = await counted(second, document, { id: ids.client(77) });
    expect(data.client).toEqual({
      email: expect.any(String),
      clinic: { clinicId: ids.clinic(0) },
    });
    expect(calls).toBe(1);
    // Slowly, so that the old list is read over longer than pages may be apart. It is not read again.
    sandbox.set({ latencyMs: 30 });
    const wide = await counted(second, document, { id: moved });
    sandbox.set({ latencyMs: 0 });
    expect([wide.errors, wide.data.client?.clinic, wide.calls]).toEqual([
      undefined,
      { clinicId: ids.clinic(1) },
      81,
    ]);
    sandbox.removeClient(moved);
  });

  it('is found although the page that had them is gone', async () => {
    let total = 35;
    await using upstream = await openUpstream(({ path }, response) => {
      const page = Number(path.split('page=')[1]);
      const isThere = path.startsWith(`/clinics/${uuid(1)}/`) && page <= Math.ceil(total / 10);
      if (!isThere) return answer(response, 404, envelope(404, 'no such page'));
      const rows = [{ id: uuid(7), email: 'seven@example.test' }];
      answer(response, 200, pageBody(total, page, page * 10 >= total ? rows : undefined));
    });
    const env = {
      PARTNER_BASE_URL: upstream.connection.baseUrl,
      EVENT_STORE_DIR: join(storeDir, 'x'),
    };
    const list = `{ clinic(id: "${uuid(1)}") { clients(last: 1) { nodes { clientId email } } } }`;
    {
      await using first = await openGateway({ sandbox, env });
      await first.query(list);
    }
    total = 8;
    await using second = await openGateway({ sandbox, env });
    const { data } = await second.query(`{ client(id: "${uuid(7)}") { email } }`);
    expect(data.client.email).toBe('seven@example.test');
  });
});
