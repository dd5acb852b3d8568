import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../src/sandbox/sandbox.ts';
import { type Gateway, QUIET, openGateway } from './gateway.ts';
import { counted } from './graph/counted.ts';

let sandbox: Sandbox;
let ids: Sandbox['ids'];
beforeAll(async () => {
  sandbox = await openSandbox({ switches: QUIET });
  ({ ids } = sandbox);
});
afterAll(() => sandbox.close());

/** A gateway that has met nothing yet. */
let gateway: Gateway;
let storeDir: string;
beforeEach(async () => {
  storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-lookup-'));
  gateway = await openGateway({ sandbox, storeDir });
  return async () => {
    await gateway.close();
    rmSync(storeDir, { recursive: true });
  };
});

/** Another process on the same store: it remembers what lies where, and no answer. */
async function restart(): Promise<void> {
  await gateway.close();
  gateway = await openGateway({ sandbox, storeDir });
}

const at = (field: string) => `query($id: ID!, $near: ID) { ${field} }`;
const ORGANIZATION = 'query($id: ID!) { organization(id: $id) { name } }';
const CLINIC = at('clinic(id: $id, organizationId: $near) { name }');
const CLINICIAN = at('clinician(id: $id, clinicId: $near) { email }');
const CLIENT = at('client(id: $id, clinicId: $near) { lastName email }');
const CLIENT_OF_CLINICIAN = at('client(id: $id, clinicianId: $near) { lastName }');
const SESSION = at('session(id: $id, clientId: $near) { raw }');

describe('a record known by id alone', () => {
  it('costs nothing until an attribute is asked for', async () => {
    const { data, calls } = await counted(
      gateway,
      `{ organization(id: "${ids.organization(1)}") { id organizationId }
         clinic(id: "${ids.clinic(4)}") { id clinicId }
         clinician(id: "${ids.clinician(20)}") { id clinicianId }
         client(id: "${ids.client(700)}") { id clientId }
         session(id: "${ids.session(3, 3)}") { id sessionId } }`,
    );
    expect([data.client.clientId, data.session.sessionId]).toEqual([
      ids.client(700),
      ids.session(3, 3),
    ]);
    expect(calls).toBe(0);
  });

  it('opens its lists without being looked for', async () => {
    const lists = `{ clinic(id: "${ids.clinic(2)}") { clinicians(first: 1) { totalCount } }
      client(id: "${ids.client(5)}") { sessions { totalCount } } }`;
    expect((await counted(gateway, lists)).calls).toBe(2);
  });

  it('is looked for once, however many fields ask', async () => {
    const id = ids.organization(1);
    const document = `{ a: organization(id: "${id}") { name raw } b: organization(id: "${id}") { name } }`;
    expect((await counted(gateway, document)).calls).toBe(1);
  });
});

describe('the search', () => {
  it.each([
    ['an organization: their list', ORGANIZATION, () => ids.organization(1), 1],
    ['a clinic: organizations, then the list of each', CLINIC, () => ids.clinic(4), 3],
    ['a clinician: a filter for each clinic', CLINICIAN, () => ids.clinician(20), 4],
    ['a client: the lists of clinics, four pages at a time', CLIENT, () => ids.client(25), 7],
  ])('%s', async (_name, document, id, calls) => {
    const answer = await counted(gateway, document, { id: id() });
    expect([answer.errors, answer.calls]).toEqual([undefined, calls]);
  });

  it('a session: client by client', async () => {
    const { data, calls } = await counted(gateway, SESSION, { id: ids.session(0, 2) });
    expect([data.session.raw.sessionId, calls]).toEqual([ids.session(0, 2), 4]);
  });

  it.each([
    ['a clinic by its organization', CLINIC, () => [ids.clinic(4), ids.organization(1)], 1],
    ['a clinician by their clinic', CLINICIAN, () => [ids.clinician(20), ids.clinic(1)], 1],
    ['a client by their clinic', CLIENT, () => [ids.client(25), ids.clinic(0)], 5],
    [
      'a client by their clinician',
      CLIENT_OF_CLINICIAN,
      () => [ids.client(25), ids.clinician(12)],
      1,
    ],
    ['a session by its client', SESSION, () => [ids.session(9, 2), ids.client(9)], 1],
  ])('is cut short by a hint: %s', async (_name, document, pair, calls) => {
    const [id, near] = pair();
    const answer = await counted(gateway, document, { id, near });
    expect([answer.errors, answer.calls]).toEqual([undefined, calls]);
  });

  it('tries the clinician’s list before the clinic’s', async () => {
    const document = `{ client(id: "${ids.client(300)}", clinicId: "${ids.clinic(0)}", clinicianId: "${ids.clinician(1)}") { email } }`;
    const { calls } = await counted(gateway, document);
    expect(calls).toBe(4);
    expect(sandbox.requests.at(-1)?.route).toBe('GET /clinicians/:clinicianId/clients');
  });

  it('goes on past a hint that is wrong, and never believes it', async () => {
    const wrong = { id: ids.clinic(4), near: ids.organization(0) };
    const document = at(
      'clinic(id: $id, organizationId: $near) { name organization { organizationId } }',
    );
    const { data } = await counted(gateway, document, wrong);
    expect(data.clinic.name).toEqual(expect.any(String));
    expect(data.clinic.organization.organizationId).toBe(ids.organization(1));
  });

  it('does not take a client’s hint for their clinic, nor a session’s for its client', async () => {
    const { data } = await counted(
      gateway,
      `{ client(id: "${ids.client(0)}", clinicianId: "${ids.clinician(3)}") { clinic { clinicId } }
         session(id: "${ids.session(0, 0)}", clientId: "${ids.client(4)}") { client { clientId } } }`,
    );
    expect(data.client.clinic.clinicId).toBe(ids.clinic(0));
    expect(data.session.client.clientId).toBe(ids.client(0));
  });
});

describe('what was met before', () => {
  it.each([
    ['client', () => `client(id: "${ids.client(77)}") { email clinic { clinicId } }`],
    ['clinician', () => `clinician(id: "${ids.clinician(11)}") { email clinic { clinicId } }`],
    ['session', () => `session(id: "${ids.session(27, 9)}") { raw client { clientId } }`],
    [
      'program',
      () =>
        `node(id: "${Buffer.from(`Program:${ids.program(11)}`).toString('base64url')}") { ... on Program { name } }`,
    ],
  ])('%s: is found in one call, even by a gateway that was started anew', async (field, ask) => {
    await counted(
      gateway,
      `{ clinic(id: "${ids.clinic(0)}") { clients(first: 100) { nodes { id } } clinicians(first: 14) { nodes { id } } }
         client(id: "${ids.client(27)}") { sessions { nodes { id } } }
         organization(id: "${ids.organization(0)}") { programs(first: 12) { nodes { id } } } }`,
    );
    await restart();
    const { data, calls } = await counted(gateway, `{ ${ask()} }`);
    expect([data[field] ?? data.node, calls]).toEqual([expect.any(Object), 1]);
  });

  it('is found in what this operation has read already', async () => {
    const id = ids.clinic(1);
    const { data, calls } = await counted(
      gateway,
      `{ clinic(id: "${id}") { clients(first: 1) { nodes { clinic { clinicians(first: 1) { nodes { clinic { clinicId } } } } } } } }`,
    );
    expect(data.clinic.clients.nodes[0].clinic.clinicians.nodes[0].clinic.clinicId).toBe(id);
    expect(calls).toBe(2);
  });

  it('is looked for anew where it has moved to', async () => {
    const clientId = sandbox.addClient(ids.clinician(0), 'head');
    const document = `{ client(id: "${clientId}") { email clinic { clinicId } } }`;
    await counted(
      gateway,
      `{ clinic(id: "${ids.clinic(0)}") { clients(first: 1) { nodes { id } } } }`,
    );
    sandbox.moveClient(clientId, ids.clinician(14));
    await restart();
    const { data } = await counted(gateway, document);
    expect(data.client.email).toEqual(expect.any(String));
    const again = await counted(gateway, document);
    expect(again.data.client.clinic.clinicId).toBe(ids.clinic(1));
  });
});
