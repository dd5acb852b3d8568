import { constant, constantFrom, nat, oneof, record, tuple } from 'fast-check';

import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { artifactId, idsOf, plainId, sessionId } from '../global-id.ts';
import type { Uuid } from '../../../src/uuid.ts';

/** Few, so that two viewers share records: of four clinicians, three clinics, two organizations. All have four notes or more. */
const CLIENTS = [0, 13, 1, 14, 420, 1_124];
const CLINICIANS = [0, 1, 14, 36];
export const SESSIONS_EACH = 4;

export const anyGrant = oneof(
  tuple(constant('clinician' as const), constantFrom(...CLINICIANS)),
  tuple(constant('clinic' as const), constantFrom(0, 1, 3)),
  tuple(constant('organization' as const), constantFrom(0, 1)),
  tuple(constant('client' as const), constantFrom(...CLIENTS)),
  tuple(constant('session' as const), constantFrom(...CLIENTS)),
);

const ASKED = ['walk', 'byId', 'withParents', 'node', 'edit', 'assign', 'events', 'score'] as const;
const CHANGES = ['move', 'finish', 'assess'] as const;

export type Asked = (typeof ASKED)[number];
export interface Action {
  readonly kind: Asked | (typeof CHANGES)[number];
  /** Which of the two. */
  readonly viewer: number;
  readonly client: number;
  /** Which client is named with it: the right one or not. */
  readonly namedClient: number;
  readonly clinician: number;
  readonly nth: number;
  readonly key: string;
}

export const anyAction = record<Action>({
  kind: constantFrom(...ASKED, ...ASKED, ...CHANGES),
  viewer: nat(1),
  client: constantFrom(...CLIENTS),
  namedClient: constantFrom(...CLIENTS),
  clinician: constantFrom(...CLINICIANS),
  nth: nat(SESSIONS_EACH - 1),
  key: constantFrom('a', 'b'),
});

export const isAsked = (action: Action): action is Action & { readonly kind: Asked } =>
  (ASKED as readonly string[]).includes(action.kind);

const ASKED_ONCE: readonly Action['kind'][] = ['edit', 'assign', 'events'];

/** From the third time on an answer may come from the cache, except for mutations and the log. */
export const timesAsked = ({ kind }: Action): number => (ASKED_ONCE.includes(kind) ? 1 : 3);

const CLIENT = 'clientId firstName raw sessions(first: 4) { nodes { sessionId raw } }';
const SESSION =
  'sessionId raw progressNote { progressNoteId note } transcript { items { speaker } }';

export const documents: Readonly<Record<Asked, string>> = {
  walk: `{ viewer { organizations { nodes { clinics { nodes { clients(first: 2) { nodes { clientId firstName } } } } } }
    clinics { clients(first: 3) { nodes { clientId firstName } } }
    clinicians { clients(first: 100) { nodes { clientId firstName } } } clients { ${CLIENT} } sessions { ${SESSION} } } }`,
  byId: `query($client: ID!, $session: ID!, $note: ID!) { client(id: $client) { ${CLIENT} }
    session(id: $session) { ${SESSION} } progressNote(id: $note) { progressNoteId note } }`,
  withParents: `query($client: ID!, $bareSession: ID!, $bareNote: ID!, $clinician: ID!, $namedClient: ID!, $namedSession: ID!) {
    client(id: $client, clinicianId: $clinician) { ${CLIENT} } session(id: $bareSession, clientId: $namedClient) { ${SESSION} }
    progressNote(id: $bareNote, sessionId: $namedSession, clientId: $namedClient) { progressNoteId note } }`,
  node: `query($nodes: [ID!]!) { nodes(ids: $nodes) { ... on Client { ${CLIENT} } ... on Session { ${SESSION} }
    ... on ProgressNote { progressNoteId note } ... on Transcript { session { sessionId raw } } } }`,
  edit: `mutation($note: ID!, $key: String!) { magicEdit(input: { progressNoteId: $note, userInstructions: "x",
    idempotencyKey: $key }) { is: __typename ... on ProgressNoteChange { progressNote { progressNoteId note } } } }`,
  assign: `mutation($client: ID!, $clinician: ID!) { assignSecondaryClinicians(input: { clientId: $client,
    clinicianIds: [$clinician] }) { is: __typename ... on SecondaryCliniciansAssigned { client { ${CLIENT} } } } }`,
  events: `query($after: EventCursor) { events(first: 100, after: $after) { nodes { ... on SessionEvent { session { ${SESSION} } client { firstName clientId } }
    ... on AssessmentCompleted { client { clientId firstName } assessmentScoreId assessmentScore { raw } } } } }`,
  score: `query($score: ID!) { assessmentScore(id: $score) { assessmentScoreId raw client { firstName clientId } } }`,
};

/** Only those that the document declares, so that a repeated query is the same byte by byte. */
export function variablesOf(
  action: Action & { readonly kind: Asked },
  sandbox: Sandbox,
  score: string,
  after: string | undefined,
): object {
  const { kind, client, nth, namedClient, clinician, key } = action;
  const { ids } = sandbox;
  const bareSession = ids.session(client, nth);
  const session = sessionId({ sandbox }, bareSession, ids.client(client));
  const note = artifactId({ sandbox }, 'ProgressNote', bareSession, ids.client(client));
  const all = {
    client: ids.client(client),
    bareSession,
    bareNote: ids.note(client, nth),
    session,
    note,
    clinician: ids.clinician(clinician),
    key,
    score: idsOf({ sandbox }).encode({
      type: 'AssessmentScore',
      id: score,
      clientId: ids.client(client) as Uuid,
    }),
    after,
    namedClient: ids.client(namedClient),
    namedSession: ids.session(namedClient, nth),
    nodes: [
      plainId('Client', ids.client(client)),
      session,
      note,
      artifactId({ sandbox }, 'Transcript', bareSession, ids.client(client)),
    ],
  };
  const declared = Object.entries(all).filter(([name]) => documents[kind].includes(`$${name}:`));
  return Object.fromEntries(declared);
}
