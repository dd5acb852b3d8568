import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { SessionIds } from '../../sandbox/sandbox.ts';
import { EVENT_TYPES } from '../../src/events/partner-event.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';
import { clientOf, cursorNow, subscribeTo } from '../support/ws/graphql-client.ts';

let gateway: Gateway;
let after: string;
let written: SessionIds;
let failed: SessionIds;
let noteId: string | undefined;
let scoreId: string | undefined;

/** One event of each kind, about one client. */
beforeAll(async () => {
  gateway = await openGateway({ switches: { newNoteIdEvery: 0 } });
  const { sandbox } = gateway;
  after = await cursorNow(gateway);
  written = sandbox.startSession(sandbox.ids.client(0), { prescriber: true });
  sandbox.settle();
  noteId = sandbox.noteIdOf(written.sessionId);
  await gateway.query(
    'mutation($id: ID!) { regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }',
    { id: noteId },
  );
  sandbox.settle();
  sandbox.finalize(noteId!);
  failed = sandbox.startSession(sandbox.ids.client(0), { failTranscription: true });
  sandbox.settle();
  [scoreId] = sandbox.completeAssessments(sandbox.ids.client(0));
  await sandbox.delivered();
});
afterAll(() => gateway.close());

const parentsOf = (session: SessionIds) => ({
  session: { sessionId: session.sessionId },
  client: { clientId: session.clientId },
  clinician: { clinicianId: session.clinicianId },
  clinic: { clinicId: session.clinicId },
  organization: { organizationId: session.organizationId },
});
const PLACE = `session { sessionId } client { clientId } clinician { clinicianId } clinic { clinicId }
  organization { organizationId }`;
const NOTE = `${PLACE} progressNoteId progressNote { progressNoteId }`;
const note = () => ({
  ...parentsOf(written),
  progressNoteId: noteId,
  progressNote: { progressNoteId: noteId },
});
const ofSession = () => ({ session: { sessionId: written.sessionId } });

const kinds: readonly (readonly [string, string, string, () => object])[] = [
  ['PROGRESS_NOTE_GENERATED', 'noteReady', NOTE, note],
  ['PROGRESS_NOTE_REGENERATED', 'noteReady', NOTE, note],
  ['PROGRESS_NOTE_FINALIZED', 'noteFinalized', NOTE, note],
  [
    'TRANSCRIPT_READY',
    'transcriptReady',
    `${PLACE} transcript { session { sessionId } }`,
    () => ({ ...parentsOf(written), transcript: ofSession() }),
  ],
  [
    'SESSION_TRANSCRIPT_ERROR',
    'transcriptFailed',
    `${PLACE} error`,
    () => ({ ...parentsOf(failed), error: expect.stringMatching(/./) }),
  ],
  [
    'MDM_ELEMENTS_IDENTIFIED',
    'mdmIdentified',
    `${PLACE} mdmId mdm { session { sessionId } }`,
    () => ({
      ...parentsOf(written),
      mdmId: expect.stringMatching(/^[\da-f-]{36}$/),
      mdm: ofSession(),
    }),
  ],
  [
    'ASSESSMENT_COMPLETED',
    'assessmentCompleted',
    'client { clientId } assessmentScoreId assessmentScore { assessmentScoreId }',
    () => ({
      client: { clientId: written.clientId },
      assessmentScoreId: scoreId,
      assessmentScore: { assessmentScoreId: scoreId },
    }),
  ],
];

describe('an event', () => {
  it('is of one of the types tested here', () => {
    expect(kinds.map(([type]) => type.toLowerCase())).toEqual(EVENT_TYPES);
  });

  it.each(kinds)(
    '%s is delivered as %s, linked to its nodes',
    async (type, field, links, expected) => {
      const query = `subscription($after: EventCursor, $types: [PartnerEventType!]) {
      ${field}(after: $after, filter: { types: $types }) { type ${links} } }`;
      await using results = subscribeTo(clientOf(gateway), query, { after, types: [type] });
      expect(await results.next()).toEqual({ data: { [field]: { type, ...expected() } } });
    },
  );

  it('is delivered once by the subscription to all events', async () => {
    const query = 'subscription($after: EventCursor) { events(after: $after) { type } }';
    await using results = subscribeTo(clientOf(gateway), query, { after });
    const types = (await results.take(kinds.length)).map(({ data }) => data.events.type);
    expect(types).toHaveLength(kinds.length);
    expect(new Set(types)).toEqual(new Set(kinds.map(([type]) => type)));
  });
});

describe('the log', () => {
  const PAGE = `query($first: Int, $after: EventCursor) { events(first: $first, after: $after) {
    nodes { type cursor } edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;

  it('is read a page at a time, each event with its cursor, until its end', async () => {
    const { events: one } = (await gateway.query(PAGE, { first: 4 })).data;
    expect(one.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    const { events: two } = (await gateway.query(PAGE, { after: one.pageInfo.endCursor })).data;
    expect(two.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const all = [...one.nodes, ...two.nodes];
    expect(new Set(all.map(({ type }) => type))).toEqual(new Set(kinds.map(([type]) => type)));
    expect(all.map(({ cursor }) => cursor)).toEqual(
      [...one.edges, ...two.edges].map((e) => e.cursor),
    );
  });

  it.each([
    ['an empty cursor', { after: '' }],
    ['a forged cursor', { after: 'x' }],
  ])('rejects %s', async (_, variables) => {
    const { errors } = await gateway.query(PAGE, variables);
    const message = expect.stringContaining('"after" must be an event cursor');
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT' } }]);
  });

  it('of a session has its events, oldest first', async () => {
    const query = 'query($id: ID!) { session(id: $id) { events { type cursor } } }';
    const { events } = (await gateway.query(query, { id: written.sessionId })).data.session;
    const all = (await gateway.query(PAGE, {})).data.events.nodes;
    const others = ['SESSION_TRANSCRIPT_ERROR', 'ASSESSMENT_COMPLETED'];
    expect(events).toEqual(all.filter(({ type }: { type: string }) => !others.includes(type)));
  });
});
