import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { artifactId, plainId, sessionId } from '../support/global-id.ts';
import { counted, failures } from '../support/graph/counted.ts';
import { NODE_TYPES, leavesOf } from '../support/graph/leaves.ts';

const NOWHERE = 'd0d0d0d0-aaaa-4bbb-8ccc-dddddddddddd';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
/** One node of every type, read from the root. */
let found: Record<string, { id: string }>;
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
  const { data, errors } = await gateway.query(
    `{ organizations(first: 1) { nodes { id name programs(first: 1) { nodes { id name } }
      clinics(first: 1) { nodes { id name assessments(first: 1) { nodes { id name } }
        clinicians(first: 2) { nodes { id email magicEdits(first: 1) { nodes { id raw } } } }
        clients(first: 2) { nodes { id email sessions(first: 1) { nodes { id raw
          progressNote { id note } transcript { id items { speaker } } mdm { id risk } } } } } } } } }
      assessmentScore(id: "${ids.scores(0)[0]}") { id totalScore } }`,
  );
  expect(errors).toBeUndefined();
  const [organization] = data.organizations.nodes;
  const [clinic] = organization.clinics.nodes;
  // The second clinician prescribes, and has the second client: only such sessions have MDM.
  const [session] = clinic.clients.nodes[1].sessions.nodes;
  found = {
    Organization: organization,
    Program: organization.programs.nodes[0],
    Clinic: clinic,
    Assessment: clinic.assessments.nodes[0],
    Clinician: clinic.clinicians.nodes[1],
    MagicEdit: clinic.clinicians.nodes.flatMap((each: Json) => each.magicEdits.nodes)[0],
    Client: clinic.clients.nodes[1],
    Session: session,
    ProgressNote: session.progressNote,
    Transcript: session.transcript,
    MDM: session.mdm,
    AssessmentScore: data.assessmentScore,
  };
});
afterAll(() => gateway.close());

// oxlint-disable-next-line typescript/no-explicit-any -- answers are asserted on, not computed with
type Json = any;

const NODE = 'query($id: ID!) { node(id: $id) { __typename id } }';

describe('node', () => {
  it.each([...NODE_TYPES])('finds a %s by the id from another result', async (type) => {
    const { id } = found[type]!;
    const document = `query($id: ID!) { node(id: $id) { __typename ... on ${type} { ${leavesOf(type)} } } }`;
    const { data, errors } = await counted(gateway, document, { id });
    expect(errors).toBeUndefined();
    const { raw: _raw, ...record } = found[type] as Json;
    const leaves = Object.entries(record).filter(([, value]) => typeof value !== 'object');
    expect(data.node).toMatchObject({ __typename: type, ...Object.fromEntries(leaves) });
  });

  it('has the same id for the same record, by every path', async () => {
    const { data } = await counted(
      gateway,
      `{ client(id: "${ids.client(1)}") { id clinic { id } sessions(first: 1) { nodes { id client { id } } } }
         clinician(id: "${ids.clinician(1)}") { id clients(first: 1) { nodes { id } } clinic { id } }
         progressNote(id: "${ids.note(1, 0)}", sessionId: "${ids.session(1, 0)}", clientId: "${ids.client(1)}") {
           id session { id } } }`,
    );
    expect(data.client.id).toBe(found['Client']!.id);
    expect(data.clinician.clients.nodes[0].id).toBe(found['Client']!.id);
    expect(data.client.sessions.nodes[0].client.id).toBe(found['Client']!.id);
    expect([data.client.clinic.id, data.clinician.clinic.id]).toEqual(
      Array(2).fill(found['Clinic']!.id),
    );
    expect(data.progressNote).toEqual({
      id: found['ProgressNote']!.id,
      session: { id: found['Session']!.id },
    });
  });

  it('returns an id without a call where the Partner API has only lists', async () => {
    // Attributes of another type do not apply.
    const document = 'query($id: ID!) { node(id: $id) { __typename id ... on Session { raw } } }';
    for (const type of ['Organization', 'Program', 'Clinic', 'Clinician', 'Client'] as const) {
      const id = plainId(type, NOWHERE);
      const { data, calls } = await counted(gateway, document, { id });
      expect([data.node, calls]).toEqual([{ __typename: type, id }, 0]);
    }
  });

  it('returns a UUID in lower case, however it was sent', async () => {
    const { data, calls } = await counted(
      gateway,
      `{ client(id: "${ids.client(3).toUpperCase()}") { id clientId } }`,
    );
    expect([data.client, calls]).toEqual([
      { id: plainId('Client', ids.client(3)), clientId: ids.client(3) },
      0,
    ]);
  });
});

describe('nodes', () => {
  it('returns the others when one is missing or invalid', async () => {
    const wanted = [
      found['Clinic']!.id,
      artifactId(gateway, 'ProgressNote', ids.client(0)),
      'nonsense',
      found['Client']!.id,
    ];
    const answer = await counted(gateway, 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: wanted,
    });
    expect(answer.data.nodes).toEqual([{ id: wanted[0] }, null, null, { id: wanted[3] }]);
    expect(failures(answer)).toEqual(['nodes.2: BAD_USER_INPUT']);
  });

  it('has one error for all invalid ids', async () => {
    const wanted = [found['Clinic']!.id, 'a', 'b', 'c'];
    const answer = await gateway.query('query($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
      ids: wanted,
    });
    expect(answer.data.nodes).toEqual([{ id: wanted[0] }, null, null, null]);
    expect(failures(answer)).toEqual(['nodes.1: BAD_USER_INPUT']);
    expect(answer.errors?.[0]?.message).toContain('items 1, 2, 3.');
  });

  it('accepts at most a hundred ids', async () => {
    const NODES = 'query($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const hundred = Array.from({ length: 100 }, (_, n) => plainId('Client', ids.client(n)));
    expect((await counted(gateway, NODES, { ids: hundred })).data.nodes).toHaveLength(100);
    const more = await counted(gateway, NODES, { ids: [...hundred, hundred[0]] });
    expect([failures(more), more.calls]).toEqual([['nodes: BAD_USER_INPUT'], 0]);
  });
});

const BAD = [
  '',
  'nonsense',
  '00000000-0000-0000-0000-000000000000',
  '../partners',
  'a/b',
  '?page=2',
  '#',
  '%2e%2e',
  'x\r\nAccess-Token: y',
  'x'.repeat(10_000),
];
const inside = (id: string) => Buffer.from(`C${id}`).toString('base64url');

describe('an invalid id', () => {
  it.each([...BAD, ...BAD.map(inside), `${plainId('Client', NOWHERE)}:`, inside(NOWHERE)])(
    'is rejected before any call: %j',
    async (id) => {
      const byNode = await counted(gateway, NODE, { id });
      expect([failures(byNode), byNode.calls]).toEqual([['node: BAD_USER_INPUT'], 0]);
      const byField = await counted(gateway, 'query($id: ID!) { client(id: $id) { email } }', {
        id,
      });
      expect([failures(byField), byField.calls]).toEqual([['client: BAD_USER_INPUT'], 0]);
    },
  );

  it('includes a bare UUID for node, and the id of another type for a field', async () => {
    const bare = await counted(gateway, NODE, { id: ids.client(0) });
    expect([failures(bare), bare.calls]).toEqual([['node: BAD_USER_INPUT'], 0]);
    expect(bare.errors?.[0]?.message).toBe('"id" must be a global id from an earlier response.');
    const other = await counted(
      gateway,
      'query($id: ID!) { client(id: $id) { email } progressNote(id: $id) { id } session(id: $id) { raw } }',
      { id: found['Clinic']!.id },
    );
    expect(other.errors?.map(({ extensions }) => extensions.code)).toEqual(
      Array(3).fill('BAD_USER_INPUT'),
    );
    expect(other.calls).toBe(0);
  });

  it('is rejected in an argument that names a parent, and in a filter', async () => {
    const answer = await counted(
      gateway,
      `{ client(id: "${ids.client(0)}", clinicId: "..") { email }
         clinic(id: "${ids.clinic(0)}") { clients(filter: { clinicianId: "a/b" }) { totalCount }
           clinicians(filter: { id: "?page=2" }) { totalCount } } }`,
    );
    expect(failures(answer).toSorted()).toEqual([
      'client: BAD_USER_INPUT',
      'clinic.clients: BAD_USER_INPUT',
      'clinic.clinicians: BAD_USER_INPUT',
    ]);
    expect(answer.calls).toBe(0);
  });
});

describe('the id of no record', () => {
  it('is null where attributes are selected, by every path', async () => {
    const NODES = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Clinic { name } ... on Client { email }
      ... on Session { raw } ... on Program { name } } }`;
    const wanted = [
      plainId('Clinic', NOWHERE),
      sessionId(gateway, NOWHERE, ids.client(0)),
      plainId('Program', NOWHERE),
      found['Client']!.id,
    ];
    const { data, errors } = await counted(gateway, NODES, { ids: wanted });
    expect([data.nodes, errors]).toEqual([
      [null, null, null, { email: expect.any(String) }],
      undefined,
    ]);
  });

  it('has lists that are not found', async () => {
    const answer = await counted(
      gateway,
      `{ organization(id: "${NOWHERE}") { clinics { totalCount } } clinic(id: "${NOWHERE}") { clients { nodes { id } } } }`,
    );
    expect(answer.data).toEqual({ organization: { clinics: null }, clinic: { clients: null } });
    expect(failures(answer).toSorted()).toEqual([
      'clinic.clients: NOT_FOUND',
      'organization.clinics: NOT_FOUND',
    ]);
  });

  it('is null where the Partner API has a route for it', async () => {
    const answer = await counted(
      gateway,
      `{ progressNote(id: "${NOWHERE}") { id } assessmentScore(id: "${NOWHERE}") { id }
         session(id: "${NOWHERE}") { progressNote { id } transcript { id } } }`,
    );
    expect([answer.errors, answer.calls]).toEqual([undefined, 4]);
    expect(answer.data).toEqual({
      progressNote: null,
      assessmentScore: null,
      session: { progressNote: null, transcript: null },
    });
  });
});
