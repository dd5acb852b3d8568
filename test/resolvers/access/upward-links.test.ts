import { afterAll, beforeAll, expect, it } from 'vitest';

import {
  clinicOfClinician,
  organizationOfClinic,
  seededClinicianOfClient,
} from '../../../sandbox/data/hierarchy.ts';
import { viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

const clinicOf = (client: number) => clinicOfClinician(seededClinicianOfClient(client));
const organizationOf = (client: number) => organizationOfClinic(clinicOf(client));

/** The first client whose organization is not that of client 0. */
function clientElsewhere(): number {
  let client = 1;
  while (organizationOf(client) === organizationOf(0)) client += 1;
  return client;
}

const UPWARDS = `query($id: ID!, $clientId: ID!) { session(id: $id, clientId: $clientId) { sessionId
  client { clientId firstName clinic { clinicId organization { organizationId } again: clinicId name } } } }`;
const EVENTS = `query($id: ID!) { session(id: $id) { events {
  clinician { clinicianId firstName } clinic { clinicId name } organization { name } } } }`;

it.each([
  ['organization', () => `organization:${ids.organization(organizationOf(0))}`],
  ['clinic', () => `clinic:${ids.clinic(clinicOf(0))}`],
] as const)(
  'links of a granted session have only ids, also for a viewer who may read another %s',
  async (_kind, otherGrant) => {
    const client = clientElsewhere();
    const id = ids.session(client, 0);
    gateway.sandbox.finalize(ids.note(client, 0));
    await gateway.sandbox.delivered();
    const viewer = await viewerWith(gateway, [otherGrant(), `session:${id}`]);

    const { data } = await viewer(UPWARDS, { id, clientId: ids.client(client) });
    const clinicId = ids.clinic(clinicOf(client));
    const clinic = { clinicId, name: null };
    expect(data.session.client).toMatchObject({ firstName: null, clinic });

    const { events } = (await viewer(EVENTS, { id })).data.session;
    expect(events).not.toEqual([]);
    for (const event of events) {
      expect(event).toMatchObject({
        clinician: { firstName: null },
        clinic,
        organization: { name: null },
      });
    }
  },
);

it('a client belongs to the clinic whose list holds them, also if a clinician of another clinic has them too', async () => {
  // Its own, since the list that was read first counts.
  await using own = await openGateway();
  const id = ids.client(1);
  const secondary = 14;
  expect(clinicOfClinician(secondary)).not.toBe(clinicOf(1));
  const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
  own.sandbox.answerNext('/clinicians/:clinicianId/clients', { body: { data: [{ id }], meta } });
  const colleague = await viewerWith(own, [`clinician:${ids.clinician(secondary)}`]);
  await colleague('{ viewer { clinicians { clients { nodes { clientId } } } } }');

  const viewer = await viewerWith(own, [`clinic:${ids.clinic(clinicOf(1))}`]);
  // The second time, a page that was read before proves access.
  for (let times = 2; times > 0; times -= 1) {
    const { data } = await viewer(UPWARDS, { id: ids.session(1, 0), clientId: id });
    expect(data.session.client.clinic).toMatchObject({
      clinicId: ids.clinic(clinicOf(1)),
      name: expect.any(String),
    });
  }
});

it('the client of a session that was reached through them needs no look-up, and is the same', async () => {
  await using own = await openGateway();
  const [id, elsewhere] = [ids.client(1), clientElsewhere()];
  const secondary = seededClinicianOfClient(elsewhere);
  const meta = { totalItems: 1, totalPages: 1, itemsPerPage: 10, currentPage: 1 };
  // No list of the clinic itself holds them.
  const row = { id, firstName: 'Ada' };
  own.sandbox.answerNext('/clinicians/:clinicianId/clients', { body: { data: [row], meta } });
  const viewer = await viewerWith(own, [`clinic:${ids.clinic(clinicOf(elsewhere))}`]);
  const { data, errors, extensions } = await viewer(
    `query($id: ID!) { viewer { clinics { clinicians(filter: { id: $id }) { nodes { clients(first: 1) {
      nodes { firstName sessions(first: 1) { nodes { client { firstName } } } } } } } } } }`,
    { id: ids.clinician(secondary) },
  );
  expect(errors).toBeUndefined();
  const [client] = data.viewer.clinics[0].clinicians.nodes[0].clients.nodes;
  expect(client).toEqual({
    firstName: 'Ada',
    sessions: { nodes: [{ client: { firstName: 'Ada' } }] },
  });
  expect(extensions?.['upstream']).toMatchObject({ calls: 3 });
});
