import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createLog } from '../../../src/observability/log.ts';
import { listen } from '../../support/access/listener.ts';
import { type Ask, viewerWith } from '../../support/access/viewers.ts';
import { type Gateway, openGateway } from '../../support/gateway.ts';
import { artifactId, plainId, sessionId } from '../../support/global-id.ts';
import { cursorNow } from '../../support/ws/graphql-client.ts';

interface Line {
  readonly level: string;
  readonly subject: string | readonly string[];
  readonly operation: string;
  readonly records: readonly string[];
  readonly outcome: string;
}

interface Clinician {
  readonly magicEdits: { readonly nodes: readonly { readonly id: string }[] };
}

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
let lines: Line[] = [];
beforeAll(async () => {
  gateway = await openGateway({
    onLog(text) {
      const line = JSON.parse(text) as Line;
      if (line.level === 'audit') lines.push(line);
    },
  });
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());
beforeEach(() => {
  lines = [];
});

/** The audit lines of an operation: records and outcome of each. */
async function trailOf(ask: Ask, document: string, variables?: object) {
  lines = [];
  await ask(document, variables);
  return lines.map(({ records, outcome }) => [outcome, [...records].toSorted()]);
}

describe('a read', () => {
  it('names the viewer and the records in one line, with none of their values', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(0)}`], 'anna');
    await ask(`query MyDay { viewer { clinicians { clients(first: 1) { nodes { firstName lastName email
      sessions(first: 2) { nodes { progressNote { note } transcript { items { transcript } } } } } } } } }`);
    const [line, ...more] = lines;
    expect(more).toEqual([]);
    expect(line).toMatchObject({ subject: 'anna', operation: 'MyDay', outcome: 'read' });
    expect([...line!.records].toSorted()).toEqual(
      [
        `Client:${ids.client(0)}`,
        `ProgressNote:${ids.note(0, 0)}`,
        `ProgressNote:${ids.note(0, 1)}`,
        `Session:${ids.session(0, 0)}`,
        `Session:${ids.session(0, 1)}`,
        `Transcript:${ids.session(0, 0)}`,
        `Transcript:${ids.session(0, 1)}`,
      ].toSorted(),
    );
    expect(Object.keys(line!).toSorted()).toEqual(
      [
        'level',
        'time',
        'msg',
        'id',
        'requestId',
        'subject',
        'operation',
        'records',
        'outcome',
      ].toSorted(),
    );
  });

  it('is not audited for records that are only counted or linked to', async () => {
    const ask = await viewerWith(gateway, ['partner']);
    expect(
      await trailOf(
        ask,
        `query($clinic: ID!) { clinic(id: $clinic) { name clients { totalCount pageInfo { hasNextPage } }
          clinicians { nodes { email } } } organizations { nodes { name } } }`,
        { clinic: ids.clinic(0) },
      ),
    ).toEqual([]);
  });

  it('is audited for a record by id, whatever is selected, and not for its parent', async () => {
    const [client, session] = [ids.client(0), ids.session(0, 0)];
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`, `session:${session}`]);
    const [ofClient, ofSession] = [plainId('Client', client), sessionId(gateway, session)];
    for (const [document, ...records] of [
      [`{ session(id: "${session}") { client { clientId } } }`, `Session:${session}`],
      [`{ client(id: "${client}") { clientId } }`, `Client:${client}`],
      [`{ client(id: "${client}") { clinic { clinicId } } }`, `Client:${client}`],
      [`{ node(id: "${ofClient}") { id } }`, `Client:${client}`],
      [
        `{ nodes(ids: ["${ofClient}", "${ofSession}"]) { id } }`,
        `Client:${client}`,
        `Session:${session}`,
      ],
    ] as const)
      expect([document, await trailOf(ask, document)]).toEqual([document, [['read', records]]]);
  });

  it('is audited for a granted client whose clinic is returned, and not for the id in the grant', async () => {
    const client = ids.client(0);
    const ask = await viewerWith(gateway, [`client:${client}`]);
    expect(await trailOf(ask, '{ viewer { clients { clientId } } }')).toEqual([]);
    const trail = await trailOf(ask, '{ viewer { clients { clinic { clinicId } } } }');
    expect(trail).toEqual([['read', [`Client:${client}`]]]);
  });

  it('of a filtered list names its parent, even if only the count or a cursor is read', async () => {
    const ask = await viewerWith(gateway, ['partner']);
    const document = (of: string, selection: string) =>
      `query($id: ID!) { ${of}(id: $id) { clients(filter: { firstName: "Nobody" }) { ${selection} } } }`;
    const clinic = { id: ids.clinic(0) };
    const clinician = { id: ids.clinician(0) };
    expect(await trailOf(ask, document('clinic', 'totalCount'), clinic)).toEqual([
      ['read', [`Clinic:${clinic.id}`]],
    ]);
    const cursors = document('clinician', 'pageInfo { endCursor hasNextPage }');
    expect(await trailOf(ask, cursors, clinician)).toEqual([
      ['read', [`Clinician:${clinician.id}`]],
    ]);
  });

  it('is audited for edges, for records by id, and for scores and MDM', async () => {
    const ask = await viewerWith(gateway, ['partner']);
    const [score] = ids.scores(1);
    const trail = await trailOf(
      ask,
      `query($clinician: ID!, $client: ID!, $session: ID!, $score: ID!) {
        clinician(id: $clinician) { clients(first: 1) { edges { node { id } } } }
        client(id: $client, clinicianId: $clinician) { lastName }
        session(id: $session) { mdm { risk } } assessmentScore(id: $score) { totalScore } }`,
      { clinician: ids.clinician(1), client: ids.client(14), session: ids.session(1, 0), score },
    );
    expect(trail).toEqual([
      [
        'read',
        [
          `AssessmentScore:${score}`,
          `Client:${ids.client(1)}`,
          `Client:${ids.client(14)}`,
          `MDM:${ids.session(1, 0)}`,
          `Session:${ids.session(1, 0)}`,
        ].toSorted(),
      ],
    ]);
  });

  it('that is denied is audited with the requested record, whether or not it exists', async () => {
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(5)}`], 'eve');
    for (const [client, session, note, score] of [
      [ids.client(0), ids.session(0, 0), ids.note(0, 0), ids.scores(0)[0]],
      [randomUUID(), randomUUID(), randomUUID(), randomUUID()],
    ]) {
      const trail = await trailOf(
        ask,
        `query($client: ID!, $session: ID!, $note: ID!, $score: ID!) { client(id: $client) { lastName }
          session(id: $session) { transcript { id } } progressNote(id: $note) { note }
          assessmentScore(id: $score) { totalScore } }`,
        { client, session, note, score },
      );
      const names = [
        `AssessmentScore:${score}`,
        `Client:${client}`,
        `ProgressNote:${note}`,
        `Session:${session}`,
      ];
      expect(trail).toEqual([['denied', names]]);
      expect(lines[0]).toMatchObject({ subject: 'eve', operation: 'anonymous' });
    }
  });

  it('that is denied for want of an argument is audited too', async () => {
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
    const session = ids.session(0, 0);
    const note =
      'query($note: ID!, $session: ID!) { progressNote(id: $note, sessionId: $session) { note } }';
    const transcript =
      'query($id: ID!) { node(id: $id) { ... on Transcript { items { speaker } } } }';
    const denied = [['denied', [`Session:${session}`]]];
    expect(await trailOf(ask, note, { note: ids.note(0, 0), session })).toEqual(denied);
    const id = artifactId(gateway, 'Transcript', session);
    expect(await trailOf(ask, transcript, { id })).toEqual(denied);
  });

  it('of a note that the session does not have is audited as denied', async () => {
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
    const [note, session, client] = [ids.note(0, 1), ids.session(0, 0), ids.client(0)];
    const document = `{ progressNote(id: "${note}", sessionId: "${session}", clientId: "${client}") { note } }`;
    expect(await trailOf(ask, document)).toEqual([['denied', [`ProgressNote:${note}`]]]);
  });

  it('that is denied because its look-up takes too many calls is audited too', async () => {
    const written: Line[] = [];
    await using small = await openGateway({
      env: { LOOKUP_MAX_CALLS: '1' },
      onLog: (text) => void written.push(JSON.parse(text)),
    });
    const { errors } = await small.query(`{ client(id: "${ids.client(700)}") { lastName } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'NOT_FOUND' } }]);
    expect(written.filter(({ level }) => level === 'audit')).toMatchObject([
      { outcome: 'denied', records: [`Client:${ids.client(700)}`] },
    ]);
  });

  it('of a magic edit is audited, from its list and by id, and so is a denial', async () => {
    const ask = await viewerWith(gateway, [`clinic:${ids.clinic(0)}`]);
    const eve = await viewerWith(gateway, [`clinic:${ids.clinic(1)}`], 'eve');
    const { data } = await ask(
      'query($id: ID!) { clinic(id: $id) { clinicians(first: 10) { nodes { magicEdits(first: 1) { nodes { id raw } } } } } }',
      { id: ids.clinic(0) },
    );
    const [edit] = data.clinic.clinicians.nodes.flatMap((each: Clinician) => each.magicEdits.nodes);
    const [name] = lines[0]?.records ?? [];
    expect(name).toMatch(/^MagicEdit:/);
    const { id } = edit;
    const byId = 'query($id: ID!) { node(id: $id) { ... on MagicEdit { raw } } }';
    expect(await trailOf(ask, byId, { id })).toEqual([['read', [name]]]);
    const idAlone = 'query($id: ID!) { node(id: $id) { id } }';
    expect(await trailOf(ask, idAlone, { id })).toEqual([['read', [name]]]);
    expect(await trailOf(eve, byId, { id })).toEqual([['denied', [name]]]);
  });

  it('of very many records is audited in several lines', async () => {
    const ask = await viewerWith(gateway, ['partner']);
    await ask(
      'query($id: ID!) { clinic(id: $id) { clients(first: 100) { nodes { id sessions(first: 1) { nodes { id } } } } } }',
      { id: ids.clinic(0) },
    );
    expect(lines.map(({ records }) => records.length)[0]).toBe(100);
    expect(lines.length).toBeGreaterThan(1);
    const names = lines.flatMap(({ records }) => records);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('a write', () => {
  const EDIT = `mutation Edit($id: ID!, $text: String!) { magicEdit(input: { progressNoteId: $id, userInstructions: $text }) {
    ... on ProgressNoteChange { progressNote { note } } } }`;

  it('is audited before and after it is sent, with the records that it returned', async () => {
    const ask = await viewerWith(gateway, ['partner'], 'anna');
    const name = `ProgressNote:${ids.note(4, 0)}`;
    const trail = await trailOf(ask, EDIT, { id: ids.note(4, 0), text: 'shorter' });
    expect(trail).toEqual([
      ['magicEdit: asked for', [name]],
      ['magicEdit: changed', [name]],
      ['read', [name]],
    ]);
    for (const line of lines) expect(line).toMatchObject({ operation: 'Edit', subject: 'anna' });
    expect(JSON.stringify(lines)).not.toContain('shorter');
  });

  it('is audited whatever its outcome', async () => {
    const ask = await viewerWith(gateway, ['partner']);
    const outcomes = async (id: string, text = 'x') =>
      (await trailOf(ask, EDIT, { id, text })).map(([outcome]) => outcome);
    expect(await outcomes(ids.note(4, 5))).toContain('magicEdit: locked');
    expect(await outcomes(ids.note(4, 0), ' ')).toContain('magicEdit: invalid');
    gateway.sandbox.answerNext('POST /progress-notes/:progressNoteId/magic-edit', { status: 500 });
    expect(await outcomes(ids.note(4, 1))).toContain('magicEdit: OUTCOME_UNKNOWN');
    const eve = await viewerWith(gateway, [`clinician:${ids.clinician(9)}`]);
    expect((await trailOf(eve, EDIT, { id: ids.note(4, 0), text: 'x' })).map(([o]) => o)).toEqual([
      'magicEdit: asked for',
      'magicEdit: denied',
    ]);
  });

  it('is audited for tokens and for assignments, denied ones too', async () => {
    const MINT =
      'mutation($id: ID!) { authenticateClinician(input: { clinicianId: $id }) { __typename } }';
    const ask = await viewerWith(gateway, [`clinician:${ids.clinician(9)}`], 'anna');
    const own = `Clinician:${ids.clinician(9)}`;
    expect(await trailOf(ask, MINT, { id: ids.clinician(9) })).toEqual([
      ['authenticateClinician: asked for', [own]],
      ['authenticateClinician: minted', [own]],
    ]);
    expect((await trailOf(ask, MINT, { id: ids.clinician(8) }))[1]).toEqual([
      'authenticateClinician: denied',
      [`Clinician:${ids.clinician(8)}`],
    ]);
    const assign = `mutation($id: ID!, $to: ID!) { assignSecondaryClinicians(input: { clientId: $id, clinicianIds: [$to] }) { __typename } }`;
    expect(await trailOf(ask, assign, { id: ids.client(0), to: ids.clinician(9) })).toEqual([
      ['assignSecondaryClinicians: asked for', [`Client:${ids.client(0)}`]],
      ['assignSecondaryClinicians: denied', [`Client:${ids.client(0)}`]],
    ]);
  });
});

describe('an event', () => {
  it('is audited once with all its receivers and the records it returned', async () => {
    const document = 'subscription Follow { noteFinalized { progressNote { note } } }';
    const grants = [`client:${ids.client(2)}`];
    // One after another: they are listed in the order in which they subscribed.
    const listeners: Awaited<ReturnType<typeof listen>>[] = [];
    for (const subject of ['anna', 'ben', 'anna'])
      listeners.push(await listen(gateway, grants, document, {}, subject));
    gateway.sandbox.finalize(ids.note(2, 0));
    await Promise.all(listeners.map((listener) => listener.next()));
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines.filter(({ outcome }) => outcome === 'delivered')).toEqual([
      expect.objectContaining({
        subject: ['anna', 'ben'],
        operation: 'Follow',
        records: expect.arrayContaining([
          `Session:${ids.session(2, 0)}`,
          `ProgressNote:${ids.note(2, 0)}`,
        ]),
      }),
    ]);
    for (const listener of listeners) listener.close();
  });

  it('is audited with the records that it names and does not return', async () => {
    const document = 'subscription Follow { noteFinalized { clinician { firstName } } }';
    const listener = await listen(gateway, [`client:${ids.client(4)}`], document, {}, 'anna');
    gateway.sandbox.finalize(ids.note(4, 2));
    await listener.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines.filter(({ outcome }) => outcome === 'denied')).toEqual([
      expect.objectContaining({
        subject: ['anna'],
        operation: 'Follow',
        records: [expect.stringMatching(/^Clinician:/)],
      }),
    ]);
    listener.close();
  });

  it('is audited for each viewer who replays it', async () => {
    const document =
      'subscription($after: EventCursor) { events(after: $after) { ... on SessionEvent { session { raw } } } }';
    const [after, subject] = [await cursorNow(gateway), 'late'];
    gateway.sandbox.finalize(ids.note(2, 1));
    await gateway.sandbox.delivered();
    lines = [];
    const listener = await listen(gateway, ['partner'], document, { after }, subject);
    await listener.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lines).toMatchObject([
      { subject: [subject], outcome: 'delivered', records: [`Session:${ids.session(2, 1)}`] },
    ]);
    listener.close();
  });

  it('is audited when it is read from the log, and a filter when it is denied', async () => {
    const ask = await viewerWith(gateway, [`client:${ids.client(2)}`]);
    expect(await trailOf(ask, '{ events { nodes { cursor } } }')).toEqual([
      ['read', [`Session:${ids.session(2, 0)}`, `Session:${ids.session(2, 1)}`].toSorted()],
    ]);
    const listener = await listen(
      gateway,
      [`client:${ids.client(2)}`],
      'subscription($id: ID!) { events(filter: { clientId: $id }) { cursor } }',
      { id: ids.client(3) },
    );
    await listener.next();
    expect(lines.at(-1)).toMatchObject({
      outcome: 'filter: denied',
      records: [`Client:${ids.client(3)}`],
    });
    listener.close();
    const session = ids.session(3, 0);
    const ofSession = 'query($id: ID!) { events(filter: { sessionId: $id }) { nodes { cursor } } }';
    expect(await trailOf(ask, ofSession, { id: session })).toContainEqual([
      'filter: denied',
      [`Session:${session}`],
    ]);
  });

  it('is audited in lines of at most a hundred subscribers', () => {
    const written: Line[] = [];
    const { audit } = createLog('info', { write: (line) => void written.push(JSON.parse(line)) });
    const trail = { operation: 'Follow', records: ['Session:x'], outcome: 'delivered' };
    audit.delivered(
      trail,
      Array.from({ length: 240 }, (_, i) => `viewer-${i}`),
    );
    expect(written.map(({ subject }) => subject.length)).toEqual([100, 100, 40]);
  });
});
