import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

import { CLIENTS, NOTE_READY, codesOf, createUrql } from '../../docs/clients/urql.ts';
import {
  EVENTS_OF_CLIENT,
  NOTES,
  failNextAccessCheck,
  finishUnreadableNote,
} from '../support/clients/outage.ts';
import { type Restarting, logged, openRestarting } from '../support/clients/restarts.ts';
import { createTally } from '../support/clients/tally.ts';
import { tokenFor } from '../support/gateway.ts';

let gateway: Restarting;
let urql: ReturnType<typeof createUrql>;
beforeAll(async () => {
  gateway = await openRestarting();
  const token = await tokenFor(['partner']);
  urql = createUrql(`${gateway.url}/graphql`, () => token);
});
afterAll(async () => {
  await urql.close();
  await gateway[Symbol.asyncDispose]();
});

afterEach(() => vi.restoreAllMocks());

it('reads a list page by page, with no client twice', async () => {
  const clinicId = gateway.sandbox.ids.clinic(0);
  const pageAfter = async (after: string | null) => {
    const { data, error } = await urql.client.query(CLIENTS, { clinicId, after }).toPromise();
    expect(error).toBeUndefined();
    return data!.clinic.clients;
  };
  const first = await pageAfter(null);
  const second = await pageAfter(first.pageInfo.endCursor);
  const third = await pageAfter(second.pageInfo.endCursor);
  const ids = [first, second, third].flatMap(({ nodes }) => nodes.map(({ id }) => id));
  expect(new Set(ids).size).toBe(30);
});

it('receives each note after the query’s cursor once, over a restart', async () => {
  const clinicId = gateway.sandbox.ids.clinic(1);
  const { data } = await urql.client.query(CLIENTS, { clinicId }).toPromise();
  const { eventCursor: after } = data!;
  const received = createTally<string>();
  const subscription = urql.client.subscription(NOTE_READY, { after }).subscribe((result) => {
    received.add(result.data!.noteReady.cursor);
  });
  gateway.sandbox.burst(10);
  await received.reaches(3);
  await gateway.close();
  gateway.sandbox.burst(10);
  await gateway.open();
  await gateway.sandbox.delivered();
  const types = ['PROGRESS_NOTE_GENERATED', 'PROGRESS_NOTE_REGENERATED'];
  const all = await logged(gateway, after, types);
  await received.reaches(all.length);
  expect(received.all).toEqual(all);
  subscription.unsubscribe();
});

it('delivers an event whose note could not be read, and the next one without an error', async () => {
  const { eventCursor } = (await gateway.query('{ eventCursor organizations { totalCount } }'))
    .data;
  const received = createTally<unknown>();
  const subscription = urql.client
    .subscription(NOTES, { after: eventCursor })
    .subscribe(({ data, error }) => {
      received.add({ note: data?.noteReady.progressNote, codes: codesOf(error) });
    });
  const readable = { note: expect.objectContaining({ note: expect.anything() }), codes: [] };
  gateway.sandbox.burst(1);
  await received.reaches(1);
  finishUnreadableNote(gateway);
  await received.reaches(2);
  gateway.sandbox.burst(1);
  await received.reaches(3);
  const unreadable = { note: null, codes: ['UPSTREAM_UNAVAILABLE'] };
  expect(received.all).toEqual([readable, unreadable, readable]);
  subscription.unsubscribe();
});

it('subscribes again after a transient error', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.1);
  const { grants, variables } = await failNextAccessCheck(gateway);
  const token = await tokenFor(grants);
  const { client, close } = createUrql(`${gateway.url}/graphql`, () => token);
  const received = createTally<unknown>();
  const subscription = client
    .subscription(EVENTS_OF_CLIENT, variables)
    .subscribe(({ data, error }) => received.add(error ?? data));
  gateway.sandbox.completeAssessments(variables.filter.clientId);
  await received.reaches(1);
  expect(received.all).toMatchObject([{ events: { type: 'ASSESSMENT_COMPLETED' } }]);
  subscription.unsubscribe();
  await close();
});

it('reads the codes of errors', async () => {
  const query = '{ organizations(first: 0) { totalCount } }';
  const { error } = await urql.client.query(query, {}).toPromise();
  expect(codesOf(error)).toEqual(['BAD_USER_INPUT']);
  const unauthenticated = createUrql(`${gateway.url}/graphql`, () => 'not-a-token');
  const refused = await unauthenticated.client.query('{ viewer { subject } }', {}).toPromise();
  expect(codesOf(refused.error)).toEqual(['UNAUTHENTICATED']);
});
