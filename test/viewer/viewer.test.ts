import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Ask, viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { artifactId, sessionId } from '../support/global-id.ts';
import { callsTo, failures } from '../support/graph/counted.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const GRANTS = `{ viewer { subject grants organizations { totalCount nodes { organizationId name } }
  clinics { clinicId name } clinicians { clinicianId email } clients { clientId lastName }
  sessions { sessionId } } organizations { nodes { organizationId } } }`;

async function callsOf(ask: () => Promise<unknown>): Promise<number> {
  const before = callsTo(gateway);
  await ask();
  return callsTo(gateway) - before;
}

describe('viewer', () => {
  it('returns the subject and the grants, sorted, in lower case, without duplicates and unknown ones', async () => {
    const [client, clinic] = [`client:${ids.client(1)}`, `clinic:${ids.clinic(1)}`];
    const id = ids.clinic(0);
    const words = ['admin', 'Partner', 'clinic', 'clinic:', 'clinic:x', ` clinic:${id}`];
    const nil = 'clinic:00000000-0000-0000-0000-000000000000';
    const unknown = [...words, nil, `ward:${id}`, `partner:${id}`, 5, null];
    const upperCase = `clinic:${ids.clinic(1).toUpperCase()}`;
    const grants = [upperCase, ...unknown, clinic, client, clinic] as string[];
    const ask = await viewerWith(gateway, grants, 'ann');
    const { data } = await ask('{ viewer { subject grants } }');
    expect(data.viewer).toEqual({ subject: 'ann', grants: [client, clinic] });
  });

  it('returns the records that the grants name', async () => {
    const ask = await viewerWith(gateway, [
      `organization:${ids.organization(1)}`,
      `clinic:${ids.clinic(0)}`,
      `clinician:${ids.clinician(30)}`,
      `client:${ids.client(500)}`,
      `session:${ids.session(3, 1)}`,
    ]);
    const { data, errors } = await ask(GRANTS);
    expect(errors).toBeUndefined();
    const { viewer } = data;
    expect(viewer.organizations.nodes).toEqual([
      { organizationId: ids.organization(1), name: expect.any(String) },
    ]);
    expect(viewer.clinics).toEqual([{ clinicId: ids.clinic(0), name: expect.any(String) }]);
    expect(viewer.clinicians).toEqual([
      { clinicianId: ids.clinician(30), email: expect.any(String) },
    ]);
    expect(viewer.clients).toEqual([{ clientId: ids.client(500), lastName: expect.any(String) }]);
    expect(viewer.sessions).toEqual([{ sessionId: ids.session(3, 1) }]);
  });

  it('returns every organization to the partner, and none to other grants', async () => {
    const partner = await viewerWith(gateway, ['partner']);
    expect((await partner(GRANTS)).data.organizations.nodes).toHaveLength(2);
    for (const grant of [
      `clinic:${ids.clinic(0)}`,
      `clinician:${ids.clinician(0)}`,
      `client:${ids.client(0)}`,
      `session:${ids.session(0, 0)}`,
    ]) {
      const ask = await viewerWith(gateway, [grant]);
      const { data } = await ask('{ organizations { totalCount nodes { name } } }');
      expect(data.organizations).toEqual({ totalCount: 0, nodes: [] });
    }
  });

  it('returns no records to a viewer without grants, without a call', async () => {
    const ask = await viewerWith(gateway, []);
    expect(await callsOf(() => ask(GRANTS))).toBe(0);
    const { data } = await ask(GRANTS);
    expect(data.viewer.clinics).toEqual([]);
  });

  it('returns the partner’s own record only to the partner', async () => {
    const ask = await viewerWith(gateway, [`organization:${ids.organization(0)}`]);
    const answer = await ask('{ partner { raw } }');
    expect([answer.data, failures(answer)]).toEqual([{ partner: null }, ['partner: NOT_FOUND']]);
  });
});

describe('reading from parent to child', () => {
  it('costs its pages, and no calls for access checks', async () => {
    const down = `sessions(first: 1) { nodes { progressNote { isLoading } } }`;
    const cases: [string, string, number][] = [
      [
        `organization:${ids.organization(1)}`,
        `{ viewer { organizations { nodes { clinics(first: 1) { nodes { clients(first: 1) { nodes { ${down} } } } } } } } }`,
        4,
      ],
      [
        `clinic:${ids.clinic(0)}`,
        `{ viewer { clinics { clients(first: 1) { nodes { ${down} } } } } }`,
        3,
      ],
      [
        `clinician:${ids.clinician(4)}`,
        `{ viewer { clinicians { clients(first: 1) { nodes { ${down} } } } } }`,
        3,
      ],
      [`client:${ids.client(900)}`, `{ viewer { clients { ${down} } } }`, 2],
      [`session:${ids.session(7, 0)}`, '{ viewer { sessions { progressNote { isLoading } } } }', 1],
    ];
    await using cold = await openGateway();
    for (const [grant, document, calls] of cases) {
      const { errors, extensions } = await (await viewerWith(cold, [grant]))(document);
      expect([errors, extensions.upstream.calls]).toEqual([undefined, calls]);
    }
  });

  it('reads a record that was listed before by id, with no call but its own', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(2)}`]);
    await ask(`{ viewer { clinicians { clients(first: 10) { nodes { sessions(first: 10) { nodes {
      progressNote { progressNoteId } } } } } } } }`);
    const document = `query($client: ID!, $session: ID!, $note: ID!) {
      client(id: $client) { firstName }
      session(id: $session) { sessionExternalId client { clientId } transcript { id } }
      progressNote(id: $note) { progressNoteId } }`;
    const client = ids.client(2);
    const session = sessionId(gateway, ids.session(2, 0), client);
    const note = artifactId(gateway, 'ProgressNote', ids.session(2, 0), client);
    const before = callsTo(gateway);
    const { data, errors } = await ask(document, { client, session, note });
    expect(errors).toBeUndefined();
    expect(data.session.transcript.id).toEqual(expect.any(String));
    expect(data.progressNote.progressNoteId).toBe(ids.note(2, 0));
    // The transcript: the rest is cached.
    expect(callsTo(gateway) - before).toBe(1);
  });
});

describe('an upward link', () => {
  let ask: Ask;
  const UP = `{ clinicId name raw clients { totalCount } clinicians { totalCount } assessments { totalCount }
    organization { organizationId name raw clinics { totalCount } programs { totalCount } } }`;
  const CLOSED = { name: null, raw: null };

  it('has only ids for viewers who may read the child, and no siblings or children', async () => {
    ask = await viewerWith(gateway, [`clinician:${ids.clinician(5)}`]);
    const answer = await ask(`{ viewer { clinicians { email clinic ${UP} } } }`);
    const [clinician] = answer.data.viewer.clinicians;
    expect(clinician.email).toEqual(expect.any(String));
    expect(clinician.clinic).toMatchObject({ clinicId: ids.clinic(0), ...CLOSED, clients: null });
    expect(clinician.clinic.organization).toMatchObject({
      organizationId: ids.organization(0),
      ...CLOSED,
      clinics: null,
    });
    expect(failures(answer).map((text) => text.split('.clinic.')[1])).toEqual(
      expect.arrayContaining(['clients: NOT_FOUND', 'organization.clinics: NOT_FOUND']),
    );
    expect(new Set(answer.errors?.map(({ extensions }) => extensions.code))).toEqual(
      new Set(['NOT_FOUND']),
    );
  });

  it('is null for the client of a session that only a grant and a bare UUID name', async () => {
    ask = await viewerWith(gateway, [`session:${ids.session(9, 0)}`]);
    const answer = await ask(
      'query($id: ID!) { session(id: $id) { client { clientId } progressNote { note } } }',
      { id: ids.session(9, 0) },
    );
    expect(answer.data.session.progressNote.note.length).toBeGreaterThan(0);
    expect(answer.data.session.client).toBeNull();
    expect(failures(answer)).toEqual([]);
  });
});
