import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';
import { counted } from '../support/graph/counted.ts';
import { leavesOf } from '../support/graph/leaves.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const record = (fields: Readonly<Record<string, unknown>>) => expect.objectContaining(fields);

describe('a list', () => {
  it('returns organizations', async () => {
    const { data, calls } = await counted(
      gateway,
      `{ organizations { nodes { ${leavesOf('Organization')} } } }`,
    );
    expect(calls).toBe(1);
    const [first] = data.organizations.nodes;
    expect(first).toMatchObject({ organizationId: ids.organization(0), name: first.raw.name });
    expect(first.raw.id).toBe(ids.organization(0));
  });

  it('returns the clinics and programs of an organization', async () => {
    const { data, calls } = await counted(
      gateway,
      `query($id: ID!) { organization(id: $id) {
        clinics { nodes { ${leavesOf('Clinic')} } } programs(first: 12) { nodes { ${leavesOf('Program')} } } } }`,
      { id: ids.organization(0) },
    );
    expect(calls).toBe(1 + 2);
    const { clinics, programs } = data.organization;
    expect(clinics.nodes).toHaveLength(3);
    expect(clinics.nodes[1].raw).toMatchObject({
      name: clinics.nodes[1].name,
      timeZone: expect.any(String),
    });
    expect(programs.nodes).toHaveLength(12);
    expect(programs.nodes[11]).toMatchObject({
      programId: ids.program(11),
      name: programs.nodes[11].raw.name,
    });
    expect(programs.nodes[8].raw.isActive).toBe(false);
  });

  it('returns the clinicians, clients and assessments of a clinic', async () => {
    const { data, calls } = await counted(
      gateway,
      `query($id: ID!) { clinic(id: $id) { clinicians(first: 1) { nodes { ${leavesOf('Clinician')} } }
        clients(first: 1) { nodes { ${leavesOf('Client')} } }
        assessments(first: 1) { nodes { ${leavesOf('Assessment')} } } } }`,
      { id: ids.clinic(0) },
    );
    expect(calls).toBe(3);
    const [clinician] = data.clinic.clinicians.nodes;
    const { id: _id, clinicianId, raw, ...attributes } = clinician;
    expect([clinicianId, raw]).toEqual([ids.clinician(0), record(attributes)]);
    const [client] = data.clinic.clients.nodes;
    const { id: _id2, clientId, status, raw: rawClient, ...shown } = client;
    expect([clientId, rawClient]).toEqual([ids.client(0), record(shown)]);
    expect(status).toBe(rawClient.status.toUpperCase());
    expect(client.dateOfBirth).toMatch(/^\d{4}-\d\d-\d\d$/);
    const [assessment] = data.clinic.assessments.nodes;
    expect(assessment.raw).toMatchObject({
      id: assessment.assessmentId,
      questionCount: expect.any(Number),
    });
  });

  it('returns the clients and magic edits of a clinician', async () => {
    const { data, calls } = await counted(
      gateway,
      `query($id: ID!) { clinician(id: $id) { clients(first: 2) { nodes { clientId lastName } }
        magicEdits(first: 2) { totalCount nodes { ${leavesOf('MagicEdit')} } } } }`,
      { id: ids.clinician(0) },
    );
    expect(calls).toBe(2);
    expect(data.clinician.clients.nodes.map((node: { clientId: string }) => node.clientId)).toEqual(
      [ids.client(0), ids.client(13)],
    );
    const [edit] = data.clinician.magicEdits.nodes;
    expect(edit.raw).toMatchObject({ id: edit.magicEditId, userInstructions: expect.any(String) });
  });

  it('returns the sessions and programs of a client', async () => {
    const { data, calls } = await counted(
      gateway,
      `query($id: ID!) { client(id: $id) { sessions { nodes { sessionId sessionExternalId fileUrl raw } }
        programs { totalCount nodes { programId name } } } }`,
      { id: ids.client(29) },
    );
    expect(calls).toBe(2);
    const { nodes } = data.client.sessions;
    expect(nodes[3].sessionId).toBe(ids.session(29, 3));
    for (const { sessionExternalId, fileUrl, raw } of nodes) {
      expect([sessionExternalId, fileUrl]).toEqual([
        raw.sessionExternalId ?? null,
        raw.fileUrl ?? null,
      ]);
    }
    expect(data.client.programs.nodes).toHaveLength(data.client.programs.totalCount);
  });

  it('returns the partner itself', async () => {
    const { data, calls } = await counted(gateway, '{ partner { raw } }');
    expect(calls).toBe(1);
    expect(data.partner.raw).toMatchObject({ environment: 'sandbox' });
  });
});

describe('upward links', () => {
  it('lead from a client in a list to its clinic and organization by id, without a call', async () => {
    const ask = `query($id: ID!) { clinic(id: $id) { clients(first: 1) { nodes { clinic {
      clinicId organization { organizationId } } } } clinicians(first: 1) { nodes { clinic { id } } } } }`;
    await counted(gateway, '{ organizations { nodes { clinics { nodes { id } } } } }');
    const { data, calls } = await counted(gateway, ask, { id: ids.clinic(3) });
    expect(calls).toBe(2);
    expect(data.clinic.clients.nodes[0].clinic).toEqual({
      clinicId: ids.clinic(3),
      organization: { organizationId: ids.organization(1) },
    });
  });

  it('lead from a note through its session to its client', async () => {
    const { data } = await counted(
      gateway,
      `query($id: ID!) { session(id: $id, clientId: "${ids.client(2)}") { progressNote { session {
        sessionId client { clientId } } } } }`,
      { id: ids.session(2, 1) },
    );
    expect(data.session.progressNote.session).toEqual({
      sessionId: ids.session(2, 1),
      client: { clientId: ids.client(2) },
    });
  });
});
