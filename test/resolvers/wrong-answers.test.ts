import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Uuid } from '../../src/uuid.ts';
import { viewerWith } from '../support/access/viewers.ts';
import { type Gateway, openGateway, tokenFor } from '../support/gateway.ts';
import { artifactId, idsOf } from '../support/global-id.ts';
import { failures } from '../support/graph/counted.ts';
import { allChanges, change, changes, countOf } from '../support/mutation/edits.ts';
import { cursorNow } from '../support/ws/graphql-client.ts';

const NOTE = 'query($id: ID!) { progressNote(id: $id) { progressNoteId note } }';
const EDIT = `mutation($id: ID!, $session: ID, $client: ID) { magicEdit(input: { progressNoteId: $id,
  sessionId: $session, clientId: $client, userInstructions: "x" }) { is: __typename } }`;

let gateway: Gateway;
let ids: Gateway['sandbox']['ids'];
beforeAll(async () => {
  gateway = await openGateway();
  ({ ids } = gateway.sandbox);
});
afterAll(() => gateway.close());

describe('a response that names another record', () => {
  it('is returned to no viewer and changes no ownership, after a restart too', async () => {
    const storeDir = mkdtempSync(join(tmpdir(), 'partner-graph-wrong-'));
    using _ = { [Symbol.dispose]: () => rmSync(storeDir, { recursive: true }) };
    const { sandbox } = gateway;
    const nameOf = (nth: number) => ({
      id: artifactId(gateway, 'ProgressNote', ids.session(nth, 0), ids.client(nth)),
      bare: ids.note(nth, 0),
      session: ids.session(nth, 0),
      client: ids.client(nth),
    });
    const [a, b] = [nameOf(0), nameOf(1)];
    {
      await using first = await openGateway({ sandbox, storeDir });
      const ofA = await viewerWith(first, [`client:${a.client}`]);
      const wrong = {
        progressNoteId: b.bare,
        sessionId: b.session,
        isLoading: false,
        note: ['the other text'],
      };
      for (const route of ['GET /sessions/:id/progress-note', 'GET /progress-notes/:id'])
        sandbox.answerNext(route, { times: 1, body: wrong });
      const shown = await ofA(NOTE, { id: a.id });
      expect([shown.data.progressNote, failures(shown)]).toEqual([
        null,
        ['progressNote: UPSTREAM_BAD_RESPONSE'],
      ]);
      const partner = await first.query(NOTE, { id: a.bare });
      expect(failures(partner)).toEqual(['progressNote: UPSTREAM_BAD_RESPONSE']);
      // Nothing of it was cached.
      expect((await ofA(NOTE, { id: a.id })).data.progressNote.progressNoteId).toBe(a.bare);
    }
    await using again = await openGateway({ sandbox, storeDir });
    const [ofA, ofB] = [
      await viewerWith(again, [`client:${a.client}`]),
      await viewerWith(again, [`client:${b.client}`]),
    ];
    const edit = { id: b.bare, session: a.session, client: a.client };
    expect((await ofA(EDIT, edit)).data.magicEdit.is).toBe('NotFound');
    expect((await ofA(NOTE, { id: b.id })).data.progressNote).toBeNull();
    expect((await ofB(NOTE, { id: b.id })).data.progressNote.progressNoteId).toBe(b.bare);
  });
});

it.each([
  ['ProgressNote', 'note', 'progress-note', { isLoading: false, note: ['not theirs'] }],
  ['Transcript', 'items { speaker }', 'transcript', { transcriptItems: [{ speaker: 'x' }] }],
  ['MDM', 'problemsAddressed { level }', 'mdm', { problemsAddressed: [{ level: 'x' }] }],
] as const)(
  'a %s that names another client is an error, and is not cached',
  async (type, fields, route, body) => {
    const own = await viewerWith(gateway, [`clinician:${ids.clinician(1)}`]);
    const id = artifactId(gateway, type, ids.session(1, 0), ids.client(1));
    const query = `query ($id: ID!) { node(id: $id) { ... on ${type} { ${fields} } } }`;
    const wrong = { times: 1, body: { ...body, clientId: ids.client(14) } };
    gateway.sandbox.answerNext(`GET /sessions/:id/${route}`, wrong);
    expect(failures(await own(query, { id }))).toEqual(['node: UPSTREAM_BAD_RESPONSE']);
    const { data, errors } = await own(query, { id });
    expect([Object.keys(data.node).length, errors]).toEqual([1, undefined]);
  },
);

it.each(['clientId', 'patientId'])(
  'a score whose %s is not the client in its id is an error, and is not cached',
  async (name) => {
    const [score] = gateway.sandbox.completeAssessments(ids.client(1)) as [Uuid];
    const clientId = ids.client(1) as Uuid;
    const id = idsOf(gateway).encode({ type: 'AssessmentScore', id: score, clientId });
    const query = 'query ($id: ID!) { assessmentScore(id: $id) { totalScore } }';
    const wrong = { times: 1, body: { totalScore: 27, [name]: ids.client(14) } };
    gateway.sandbox.answerNext('GET /assessment-scores/:id', wrong);
    const own = await viewerWith(gateway, [`clinician:${ids.clinician(1)}`]);
    expect(failures(await own(query, { id }))).toEqual(['assessmentScore: UPSTREAM_BAD_RESPONSE']);
    expect((await own(query, { id })).data.assessmentScore).not.toBeNull();
  },
);

describe('an answer that names another client than the arguments do', () => {
  it.each([
    [
      'progressNote',
      1,
      'progress-note',
      'progressNote { note }',
      { isLoading: false, note: ['x'] },
    ],
    ['transcript', 1, 'transcript', 'transcript { id }', { transcriptItems: [] }],
    ['transcriptStatus', 2, 'transcript', 'transcriptStatus', { transcriptItems: [] }],
    ['mdm', 1, 'mdm', 'mdm { id }', { problemsAddressed: [] }],
    ['mdmStatus', 2, 'mdm', 'mdmStatus', { problemsAddressed: [] }],
  ] as const)('is an error: %s', async (name, nth, route, selection, body) => {
    const own = await viewerWith(gateway, [`clinician:${ids.clinician(1)}`]);
    const named = { id: ids.session(1, nth), client: ids.client(1) };
    const wrong = { times: 1, body: { ...body, clientId: ids.client(14) } };
    gateway.sandbox.answerNext(`GET /sessions/:id/${route}`, wrong);
    const query = `query ($id: ID!, $client: ID) { session(id: $id, clientId: $client) { ${selection} } }`;
    expect(failures(await own(query, named))).toEqual([`session.${name}: UPSTREAM_BAD_RESPONSE`]);
    expect((await own(query, named)).errors).toBeUndefined();
  });

  it.each(allChanges)('is no note to be shown, nor one that a %s is sent to', async (name) => {
    const own = { authorization: `Bearer ${await tokenFor([`clinician:${ids.clinician(1)}`])}` };
    const body = { progressNoteId: ids.note(1, 3), isLoading: false, note: ['not theirs'] };
    const wrong = { times: 2, body: { ...body, patientId: ids.client(14) } };
    gateway.sandbox.answerNext('GET /sessions/:id/progress-note', wrong);
    const named = { sessionId: ids.session(1, 3), clientId: ids.client(1) };
    const query = `query ($id: ID!, $sessionId: ID, $clientId: ID) {
        progressNote(id: $id, sessionId: $sessionId, clientId: $clientId) { note } }`;
    const shown = await gateway.query(query, { id: ids.note(1, 3), ...named }, own);
    expect(failures(shown)).toEqual(['progressNote: UPSTREAM_BAD_RESPONSE']);
    const changed = await change(gateway, name, ids.note(1, 3), named, own);
    expect(failures(changed)).toEqual(['result: UPSTREAM_BAD_RESPONSE']);
    expect(countOf(gateway, name)).toBe(0);
  });
});

it('the response to an update is not shown if it names another note', async () => {
  const answered = { text: 'not theirs', progressNoteId: ids.note(2, 2) };
  gateway.sandbox.answerNext(changes.update.route, { times: 1, body: answered });
  const { result } = await change(gateway, 'update', ids.note(1, 2));
  expect([result.type, result.raw]).toEqual(['ProgressNoteChange', null]);
});

it.each([
  ['sessionId', 0],
  ['clientId', 1],
] as const)(
  "an event's note whose %s is another one's is an error, and is not cached",
  async (name, nth) => {
    const { sandbox } = gateway;
    const after = await cursorNow(gateway);
    sandbox.finalize(ids.note(0, nth));
    await sandbox.delivered();
    const other = { sessionId: ids.session(1, 0), clientId: ids.client(1) };
    const body = { progressNoteId: ids.note(0, nth), isLoading: false, note: ['not theirs'] };
    sandbox.answerNext('GET /progress-notes/:id', {
      times: 1,
      body: { ...body, [name]: other[name] },
    });
    const query = `query ($after: EventCursor) { events(after: $after) { nodes {
    ... on ProgressNoteFinalized { progressNote { note } } } } }`;
    expect(failures(await gateway.query(query, { after }))).toEqual([
      'events.nodes.0.progressNote: UPSTREAM_BAD_RESPONSE',
    ]);
    expect((await gateway.query(query, { after })).errors).toBeUndefined();
  },
);
