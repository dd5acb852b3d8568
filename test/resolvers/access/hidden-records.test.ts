import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { listen } from '../../support/access/listener.ts';
import { MINUTE_PAST, createManualClock, viewerWith } from '../../support/access/viewers.ts';
import type { Uuid } from '../../../src/uuid.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId, idsOf, plainId, sessionId } from '../../support/global-id.ts';

/** Records of another viewer, all cached by the gateway before, and ids that do not exist. */
interface Names {
  readonly organization: string;
  readonly clinic: string;
  readonly clinician: string;
  readonly client: string;
  readonly session: string;
  readonly note: string;
  readonly score: string;
}

let gateway: Gateway;
let foreign: Names;
let own: Names;

beforeAll(async () => {
  gateway = await openGateway({ clock: createManualClock() });
  const { ids } = gateway.sandbox;
  const scoreOf = (client: string) => gateway.sandbox.completeAssessments(client)[0]!;
  foreign = {
    organization: ids.organization(0),
    clinic: ids.clinic(0),
    clinician: ids.clinician(0),
    client: ids.client(0),
    session: ids.session(0, 0),
    note: ids.note(0, 0),
    score: scoreOf(ids.client(0)),
  };
  // Of another organization, with an open note.
  own = {
    organization: ids.organization(1),
    clinic: ids.clinic(3),
    clinician: ids.clinician(36),
    client: ids.client(1_100),
    session: ids.session(1_100, 0),
    note: ids.note(1_100, 0),
    score: scoreOf(ids.client(1_100)),
  };
  await gateway.sandbox.delivered();
  // The partner has read everything: all caches are warm.
  for (const names of [foreign, own]) {
    const { errors } = await gateway.query(
      `query($organization: ID!, $clinic: ID!, $clinician: ID!, $client: ID!, $score: ID!) {
        organization(id: $organization) { name clinics { nodes { id } } programs { nodes { id } } }
        clinic(id: $clinic) { clinicians(first: 20) { nodes { id } } clients { nodes { id } } }
        clinician(id: $clinician) { clients { nodes { id } } }
        client(id: $client) { sessions { nodes { transcript { id } mdm { id } progressNote { id } } } }
        assessmentScore(id: $score) { totalScore } }`,
      names,
    );
    expect(errors).toBeUndefined();
  }
});
afterAll(() => gateway.close());

/** Of a viewer's own records: `clinic`, or `clinic and client`. */
const grantsOf = (kinds: string): string[] =>
  kinds.split(' and ').map((kind) => `${kind}:${own[kind as keyof Names]}`);

const nonexistent = (): Names => ({
  organization: randomUUID(),
  clinic: randomUUID(),
  clinician: randomUUID(),
  client: randomUUID(),
  session: randomUUID(),
  note: randomUUID(),
  score: randomUUID(),
});

/** The ids that were made just after the viewer's own, if they were of version 1. */
const neighbours = (): Names => {
  const next = (id: string) =>
    ((Number.parseInt(id, 16) + 1) >>> 0).toString(16).padStart(8, '0') + id.slice(8);
  const ids = Object.entries(own).map(([kind, id]) => [kind, next(id)]);
  return Object.fromEntries(ids) as Names;
};

/** Global ids as the gateway issues them: ids that do not exist are signed here, as no client could. */
const nodeIds = (names: Names): string[] => {
  const { client, session } = names;
  return [
    plainId('Organization', names.organization),
    plainId('Clinic', names.clinic),
    plainId('Clinician', names.clinician),
    plainId('Client', client),
    sessionId(gateway, session, client),
    artifactId(gateway, 'ProgressNote', session, client),
    artifactId(gateway, 'Transcript', session, client),
    artifactId(gateway, 'MDM', session, client),
    idsOf(gateway).encode({
      type: 'AssessmentScore',
      id: names.score,
      clientId: client as Uuid,
    }),
    idsOf(gateway).encode({ type: 'Assessment', clinicId: names.clinic as Uuid, id: 'phq9' }),
    idsOf(gateway).encode({
      type: 'MagicEdit',
      clinicianId: names.clinician as Uuid,
      id: names.note,
    }),
  ];
};

const withoutRequestIds = (text: string): string =>
  text.replaceAll(/"requestId":"[\w-]+"/g, '"requestId":""');

/** An answer without request ids, and with every requested id replaced, however it is encoded. */
function redacted(text: string, names: Names): string {
  const spelt = [...Object.values(names), ...nodeIds(names)];
  return spelt.reduce(
    (left, name, i) => left.replaceAll(name, `name ${i}`),
    withoutRequestIds(text),
  );
}

const FIELDS = `
  ... on Organization { organizationId name raw clinics { totalCount } programs { totalCount } }
  ... on Clinic { clinicId name raw organization { id } clinicians { totalCount } clients { nodes { id } }
    assessments { totalCount } }
  ... on Clinician { clinicianId email raw clinic { id } clients { totalCount } magicEdits { totalCount } }
  ... on Client { clientId firstName status raw clinic { id } sessions { nodes { id } } programs { totalCount } }
  ... on Session { sessionId raw client { id } progressNote { note } transcriptStatus mdm { risk }
    events { cursor } }
  ... on ProgressNote { note } ... on Transcript { items { speaker } } ... on MDM { risk }
  ... on Assessment { name } ... on MagicEdit { raw } ... on AssessmentScore { totalScore }`;

const LOOK_UPS: Record<string, string> = {
  'by id': `query($organization: ID!, $clinic: ID!, $clinician: ID!, $client: ID!, $session: ID!, $note: ID!, $score: ID!) {
    organization(id: $organization) { ...F } clinic(id: $clinic) { ...F } clinician(id: $clinician) { ...F }
    client(id: $client) { ...F } session(id: $session) { ...F } progressNote(id: $note) { ...F }
    assessmentScore(id: $score) { ...F } } fragment F on Node { id ${FIELDS} }`,
  'with its own parents as arguments': `query($organization: ID!, $clinic: ID!, $clinician: ID!, $client: ID!, $session: ID!, $note: ID!) {
    clinic(id: $clinic, organizationId: $organization) { ...F }
    clinician(id: $clinician, clinicId: $clinic) { ...F }
    client(id: $client, clinicId: $clinic, clinicianId: $clinician) { ...F }
    session(id: $session, clientId: $client) { ...F }
    progressNote(id: $note, sessionId: $session, clientId: $client) { ...F } } fragment F on Node { id ${FIELDS} }`,
  'with parents of the viewer as arguments': `query($clinic: ID!, $clinician: ID!, $client: ID!, $session: ID!, $note: ID!,
    $ownOrganization: ID!, $ownClinic: ID!, $ownClinician: ID!, $ownClient: ID!, $ownSession: ID!) {
    clinic(id: $clinic, organizationId: $ownOrganization) { ...F }
    clinician(id: $clinician, clinicId: $ownClinic) { ...F }
    client(id: $client, clinicId: $ownClinic, clinicianId: $ownClinician) { ...F }
    session(id: $session, clientId: $ownClient) { ...F }
    a: progressNote(id: $note, sessionId: $ownSession, clientId: $ownClient) { ...F }
    b: progressNote(id: $note, sessionId: $session, clientId: $ownClient) { ...F }
    c: progressNote(id: $note, sessionId: $ownSession) { ...F } } fragment F on Node { id ${FIELDS} }`,
  'in the log': `query($organization: ID!, $clinic: ID!, $clinician: ID!, $client: ID!, $session: ID!) {
    a: events(filter: { organizationId: $organization }) { nodes { cursor } pageInfo { hasNextPage endCursor } }
    b: events(filter: { clinicId: $clinic }) { nodes { cursor } pageInfo { hasNextPage endCursor } }
    c: events(filter: { clinicianId: $clinician }) { nodes { cursor } pageInfo { hasNextPage endCursor } }
    d: events(filter: { clientId: $client }) { nodes { cursor } pageInfo { hasNextPage endCursor } }
    e: events(filter: { sessionId: $session }) { nodes { cursor } pageInfo { hasNextPage endCursor } } }`,
};

const withOwn = (names: Names) => ({
  ...names,
  ...Object.fromEntries(
    Object.entries(own).map(([kind, id]) => [`own${kind[0]!.toUpperCase()}${kind.slice(1)}`, id]),
  ),
});

describe('records of other viewers and records that do not exist get the same answer', () => {
  const kinds = ['organization', 'clinic', 'clinician', 'client', 'session', 'clinic and client'];
  const cases = kinds.flatMap((kind) => Object.keys(LOOK_UPS).map((how) => [kind, how] as const));

  it.each(cases)(
    'for the viewer of one %s, requesting %s: data, errors and cost',
    async (kind, how) => {
      const ask = await viewerWith(gateway, grantsOf(kind));
      const answerFor = async (names: Names) => {
        const { data, errors, extensions } = await ask(LOOK_UPS[how]!, withOwn(names));
        const { calls, cached, ...rest } = extensions.upstream;
        expect(Object.values(data)).toEqual(Object.values(data).map(() => null));
        // A filter that was just used is cached for all viewers, whatever the result.
        const cost = { ...rest, read: calls + cached };
        return redacted(JSON.stringify({ data, errors, cost }), names);
      };
      // The viewer's own lists that are read because an argument names their parent are cached for both.
      await answerFor(nonexistent());
      const [theirs, nothing] = [await answerFor(foreign), await answerFor(nonexistent())];
      expect(theirs).toBe(nothing);
      expect(await answerFor(neighbours())).toBe(nothing);
    },
  );

  it('in a filter of the viewer’s own lists', async () => {
    const ask = await viewerWith(gateway, grantsOf('clinic'));
    const answerFor = async (names: Names) => {
      const { data, errors, extensions } = await ask(
        `query($clinician: ID!) { viewer { clinics {
          clients(filter: { clinicianId: $clinician }) { totalCount pageInfo { endCursor } }
          clinicians(filter: { id: $clinician }) { totalCount } } } }`,
        names,
      );
      const { calls, cached } = extensions.upstream;
      return { clinics: data.viewer.clinics, errors, read: calls + cached };
    };
    const nothing = await answerFor(nonexistent());
    expect(nothing.clinics).toEqual([
      { clients: { totalCount: 0, pageInfo: { endCursor: null } }, clinicians: { totalCount: 0 } },
    ]);
    expect(await answerFor(foreign)).toEqual(nothing);
  });

  it.each(kinds)('as nodes, for the viewer of one %s', async (kind) => {
    const ask = await viewerWith(gateway, grantsOf(kind));
    const answerFor = async (names: Names) => {
      const { data, errors, extensions } = await ask(
        `query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ${FIELDS} } }`,
        { ids: nodeIds(names) },
      );
      expect(data.nodes).toEqual(data.nodes.map(() => null));
      const { calls, cached } = extensions.upstream;
      return redacted(JSON.stringify([data, errors, calls + cached]), names);
    };
    await answerFor(nonexistent());
    expect(await answerFor(foreign)).toBe(await answerFor(nonexistent()));
  });

  it.each(kinds)('in a mutation of the viewer of one %s, and nothing is changed', async (kind) => {
    const ask = await viewerWith(gateway, grantsOf(kind));
    const answerFor = async (names: Names) => {
      const { data, errors, extensions } = await ask(
        `mutation($note: ID!, $client: ID!, $clinician: ID!, $session: ID!, $signed: ID!, $ownClinician: ID!) {
          a: magicEdit(input: { progressNoteId: $note, userInstructions: "x", idempotencyKey: "k",
            sessionId: $session, clientId: $client }) { ...N }
          b: regenerateProgressNote(input: { progressNoteId: $note }) { ...N }
          c: updateProgressNote(input: { progressNoteId: $signed, patch: {} }) { ...N }
          d: assignSecondaryClinicians(input: { clientId: $client, clinicianIds: [$ownClinician] }) { ...N }
          e: authenticateClinician(input: { clinicianId: $clinician }) { ...N } }
         fragment N on Problem { is: __typename message }`,
        {
          ...withOwn(names),
          signed: artifactId(gateway, 'ProgressNote', names.session, names.client),
        },
      );
      expect(
        Object.values(data).every((outcome) => (outcome as { is: string }).is === 'NotFound'),
      ).toBe(true);
      const { calls, cached } = extensions.upstream;
      return redacted(JSON.stringify({ data, errors, read: calls + cached }), names);
    };
    const countWrites = () =>
      gateway.sandbox.requests.filter(({ method }) => method !== 'GET').length;
    const before = countWrites();
    await answerFor(nonexistent());
    expect(await answerFor(foreign)).toBe(await answerFor(nonexistent()));
    expect(countWrites()).toBe(before);
  });

  it.each(kinds)('in a subscription filter of the viewer of one %s', async (kind) => {
    const answerFor = async (names: Names) => {
      const answers = [];
      for (const name of ['organization', 'clinic', 'clinician', 'client', 'session'] as const) {
        const listener = await listen(
          gateway,
          grantsOf(kind),
          `subscription($id: ID!) { events(filter: { ${name}Id: $id }) { cursor } }`,
          { id: names[name] },
        );
        answers.push(await listener.next());
        listener.close();
      }
      return withoutRequestIds(JSON.stringify(answers));
    };
    const theirs = await answerFor(foreign);
    expect(theirs).toBe(await answerFor(nonexistent()));
    expect(theirs.match(/"NOT_FOUND"/g)).toHaveLength(5);
  });
});

describe('a record under a grant is readable by id', () => {
  let fresh: Gateway;
  const clock = createManualClock();
  beforeAll(async () => {
    fresh = await openGateway({ sandbox: gateway.sandbox, clock });
  });
  afterAll(() => fresh.close());
  // What an earlier test has read has expired.
  beforeEach(() => clock.advance(MINUTE_PAST));

  it.each(['organization', 'clinic', 'clinician', 'client', 'session'])(
    'for the viewer of the %s that it belongs to, on a gateway that has nothing valid in its caches',
    async (kind) => {
      const ask = await viewerWith(fresh, grantsOf(kind));
      const { data, errors } = await ask(
        `query($client: ID!, $session: ID!, $note: ID!, $score: ID!) {
          client(id: $client) { sessions { totalCount } } session(id: $session) { progressNote { note } }
          progressNote(id: $note) { progressNoteId } assessmentScore(id: $score) { totalScore } }`,
        {
          client: own.client,
          session: sessionId(gateway, own.session, own.client),
          note: artifactId(gateway, 'ProgressNote', own.session, own.client),
          score: idsOf(gateway).encode({
            type: 'AssessmentScore',
            id: own.score,
            clientId: own.client as Uuid,
          }),
        },
      );
      expect(errors).toBeUndefined();
      expect(data.session.progressNote.note.length).toBeGreaterThan(0);
      expect(data.progressNote.progressNoteId).toBe(own.note);
      const seesClient = kind !== 'session';
      expect(data.client !== null).toBe(seesClient);
      expect(data.assessmentScore !== null).toBe(seesClient);
    },
  );

  it.each(['organization', 'clinic', 'clinician', 'client', 'session'])(
    'by bare UUIDs and their parents, for the viewer of the %s',
    async (kind) => {
      const ask = await viewerWith(fresh, grantsOf(kind));
      const { data, errors } = await ask(
        `query($client: ID!, $session: ID!, $note: ID!) {
          session(id: $session, clientId: $client) { sessionId progressNote { progressNoteId } }
          progressNote(id: $note, sessionId: $session, clientId: $client) { note } }`,
        own,
      );
      expect(errors).toBeUndefined();
      expect(data.session).toEqual({
        sessionId: own.session,
        progressNote: { progressNoteId: own.note },
      });
      expect(data.progressNote.note.length).toBeGreaterThan(0);
    },
  );

  it('of a clinician, for the viewer of their clinic, who may sign them in', async () => {
    const ask = await viewerWith(fresh, [`clinic:${own.clinic}`]);
    const { data, extensions } = await ask(
      'query($clinician: ID!) { clinician(id: $clinician) { email } }',
      own,
    );
    expect(data.clinician.email).toEqual(expect.any(String));
    expect(extensions.upstream.calls).toBe(1);
    const minted = await ask(
      `mutation($clinician: ID!) { authenticateClinician(input: { clinicianId: $clinician }) {
        ... on ClinicianTokens { ExpiresIn } } }`,
      own,
    );
    expect(minted.data.authenticateClinician.ExpiresIn).toBe(600);
  });
});
