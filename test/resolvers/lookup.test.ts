import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Sandbox, openSandbox } from '../../sandbox/sandbox.ts';
import { type Gateway, QUIET, openGateway } from '../support/gateway.ts';
import { counted } from '../support/graph/counted.ts';

let sandbox: Sandbox;
let ids: Sandbox['ids'];
let gateway: Gateway;
beforeAll(async () => {
  sandbox = await openSandbox({ switches: QUIET });
  ({ ids } = sandbox);
  gateway = await openGateway({ sandbox });
});
afterAll(async () => {
  await gateway.close();
  await sandbox.close();
});

/** By a gateway that has met nothing yet. */
async function askedFirst(document: string, variables: object = {}) {
  await using unmet = await openGateway({ sandbox });
  return await counted(unmet, document, variables);
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
    expect(data.client.clientId).toBe(ids.client(700));
    expect(data.session.sessionId).toBe(ids.session(3, 3));
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
    ['a session: client by client', SESSION, () => ids.session(0, 2), 4],
  ])('%s', async (_name, document, id, calls) => {
    const answer = await askedFirst(document, { id: id() });
    expect([answer.errors, answer.calls]).toEqual([undefined, calls]);
  });

  it.each([
    ['a clinic by its organization', CLINIC, () => [ids.clinic(4), ids.organization(1)], 1],
    ['a clinician by their clinic', CLINICIAN, () => [ids.clinician(20), ids.clinic(1)], 1],
    ['a client by their clinic', CLIENT, () => [ids.client(805), ids.clinic(2)], 5],
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
    const document = `query($id: ID!) {
      client(id: $id, clinicId: "${ids.clinic(0)}", clinicianId: "${ids.clinician(1)}") { email } }`;
    const { calls } = await counted(gateway, document, { id: ids.client(300) });
    expect(calls).toBe(4);
    expect(sandbox.requests.at(-1)?.route).toBe('GET /clinicians/:clinicianId/clients');
  });

  it('goes on past a hint that is wrong, and never believes it', async () => {
    const wrong = { id: ids.clinic(4), near: ids.organization(0) };
    const { data } = await askedFirst(
      at('clinic(id: $id, organizationId: $near) { name organization { organizationId } }'),
      wrong,
    );
    expect(data.clinic.name).toEqual(expect.any(String));
    expect(data.clinic.organization.organizationId).toBe(ids.organization(1));
  });

  it('does not take a client’s hint for their clinic, nor a session’s for its client', async () => {
    const { data } = await askedFirst(
      `{ client(id: "${ids.client(0)}", clinicianId: "${ids.clinician(30)}") { clinic { clinicId } }
         session(id: "${ids.session(0, 0)}", clientId: "${ids.client(4)}") { client { clientId } } }`,
    );
    expect(data.client.clinic.clinicId).toBe(ids.clinic(0));
    expect(data.session.client.clientId).toBe(ids.client(0));
  });
});

describe('what this operation has read', () => {
  it('is where a search looks first', async () => {
    const id = ids.clinic(1);
    const { data, calls } = await counted(
      gateway,
      `{ clinic(id: "${id}") { clients(first: 1) { nodes {
        clinic { clinicians(first: 1) { nodes { clinic { clinicId } } } } } } } }`,
    );
    const [client] = data.clinic.clients.nodes;
    expect(client.clinic.clinicians.nodes[0].clinic.clinicId).toBe(id);
    expect(calls).toBe(2);
  });
});
