import { randomUUID } from 'node:crypto';

import { array, assert, asyncProperty, constantFrom, nat, tuple } from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Uuid } from '../../../src/uuid.ts';
import { createManualClock, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId, idsOf, plainId, sessionId } from '../../support/global-id.ts';

/** Clients 0 to 419 are of clinic 0; the viewers below are of clinic 3, which is another organization's. */
const RUNS = 40;
let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ clock: createManualClock() });
});
afterAll(() => gateway.close());

interface Names {
  readonly organization: string;
  readonly clinic: string;
  readonly clinician: string;
  readonly client: string;
  readonly session: string;
  readonly note: string;
}

const hidden = (nth: number): Names => {
  const { ids } = gateway.sandbox;
  return {
    organization: ids.organization(0),
    clinic: ids.clinic(0),
    clinician: ids.clinician(nth % 13),
    client: ids.client(nth),
    session: ids.session(nth, 0),
    note: ids.note(nth, 0),
  };
};
const madeUp = (): Names => ({
  organization: randomUUID(),
  clinic: randomUUID(),
  clinician: randomUUID(),
  client: randomUUID(),
  session: randomUUID(),
  note: randomUUID(),
});

type Ask = (names: Names) => readonly [document: string, variables?: object];

/** Every way to name a record: look-ups, lists, filters, mutations, nodes. */
const WAYS: readonly Ask[] = [
  ({ organization }) => [
    `{ organization(id: "${organization}") { id name clinics { totalCount } } }`,
  ],
  ({ clinic }) => [
    `{ clinic(id: "${clinic}") { id clients { nodes { id } pageInfo { hasNextPage } } } }`,
  ],
  ({ clinic, organization }) => [
    `{ clinic(id: "${clinic}", organizationId: "${organization}") { name } }`,
  ],
  ({ clinician }) => [`{ clinician(id: "${clinician}") { email magicEdits { totalCount } } }`],
  ({ clinician, clinic }) => [
    `{ clinician(id: "${clinician}", clinicId: "${clinic}") { clients { totalCount } } }`,
  ],
  ({ client }) => [
    `{ client(id: "${client}") { firstName sessions { nodes { id } } clinic { id } } }`,
  ],
  ({ client, clinician }) => [`{ client(id: "${client}", clinicianId: "${clinician}") { email } }`],
  ({ session, client }) => [
    `{ session(id: "${session}", clientId: "${client}") { raw progressNote { note } } }`,
  ],
  ({ session }) => [`{ session(id: "${session}") { transcript { id } } }`],
  ({ note, session, client }) => [
    `{ progressNote(id: "${note}", sessionId: "${session}", clientId: "${client}") { note } }`,
  ],
  ({ clinician }) => [
    `{ viewer { clinics { clients(filter: { clinicianId: "${clinician}" }) { totalCount pageInfo { endCursor } } clinicians(filter: { id: "${clinician}" }) { totalCount } } } }`,
  ],
  ({ client }) => [
    `{ events(filter: { clientId: "${client}" }) { nodes { cursor } pageInfo { hasNextPage endCursor } } }`,
  ],
  ({ clinician }) => [
    `{ events(filter: { clinicianId: "${clinician}" }) { nodes { cursor } pageInfo { hasNextPage endCursor } } }`,
  ],
  ({ session, client }) => [
    `{ events(filter: { sessionId: "${sessionId(gateway, session, client)}" }) { nodes { cursor } } }`,
  ],
  ({ client, session, clinic, clinician, note }) => [
    'query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on Client { email } ... on Session { raw } ... on Clinic { name } } }',
    {
      ids: [
        plainId('Client', client),
        plainId('Clinic', clinic),
        sessionId(gateway, session, client),
        artifactId(gateway, 'ProgressNote', session, client),
        artifactId(gateway, 'MDM', session, client),
        idsOf(gateway).encode({
          type: 'MagicEdit',
          clinicianId: clinician as Uuid,
          id: note,
        }),
      ],
    },
  ],
  ({ note, session, client }) => [
    `mutation { magicEdit(input: { progressNoteId: "${note}", sessionId: "${session}", clientId: "${client}", userInstructions: "x" }) { ... on Problem { message } } }`,
  ],
  ({ session, client }) => [
    `mutation { updateProgressNote(input: { progressNoteId: "${artifactId(gateway, 'ProgressNote', session, client)}", patch: {} }) { ... on Problem { message } } }`,
  ],
  ({ client, clinician }) => [
    `mutation { assignSecondaryClinicians(input: { clientId: "${client}", clinicianIds: ["${clinician}"] }) { ... on Problem { message } } }`,
  ],
  ({ clinician }) => [
    `mutation { authenticateClinician(input: { clinicianId: "${clinician}" }) { ... on Problem { message } } }`,
  ],
];

const GRANTS = ['organization', 'clinic', 'clinician', 'client', 'session'] as const;

function grantOf(kind: (typeof GRANTS)[number]): string {
  const { ids } = gateway.sandbox;
  const own = {
    organization: ids.organization(1),
    clinic: ids.clinic(3),
    clinician: ids.clinician(36),
    client: ids.client(1_100),
    session: ids.session(1_100, 0),
  };
  return `${kind}:${own[kind]}`;
}

it('a hidden record and one that does not exist get the same answer, at the same cost', async () => {
  const kinds = array(constantFrom(...GRANTS), { minLength: 1, maxLength: 2 });
  const pair = tuple(kinds, constantFrom(...WAYS), nat(400));
  const property = asyncProperty(pair, async ([grants, way, nth]) => {
    const ask = await viewerWith(gateway, [...new Set(grants.map(grantOf))]);
    const outcomeOf = async (names: Names) => {
      const [document, variables] = way(names);
      const { data, errors, extensions } = await ask(document, variables);
      const codes = errors?.map(({ message, extensions: { code } }) => `${code} ${message}`);
      const { calls, cached, estimated } = extensions.upstream;
      // What one of the two has read before is cached, whatever the result: reads are compared, not calls.
      return { data, codes, reads: calls + cached, estimated };
    };
    await outcomeOf(madeUp());
    expect(await outcomeOf(hidden(nth))).toEqual(await outcomeOf(madeUp()));
  });
  await assert(property, { numRuns: RUNS });
}, 120_000);
