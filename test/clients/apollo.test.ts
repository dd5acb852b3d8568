import { readFileSync } from 'node:fs';

import { gql } from '@apollo/client';
import { buildSchema, isAbstractType } from 'graphql';
import { filter, firstValueFrom, map } from 'rxjs';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';

import { codesOf, createApollo } from '../../docs/clients/apollo.ts';
import { CLIENTS, notesAfter, openClients, showMore } from '../../docs/clients/apollo-usage.ts';
import { possibleTypes } from '../../docs/clients/possible-types.ts';
import {
  EVENTS_OF_CLIENT,
  failNextAccessCheck,
  finishUnreadableNote,
} from '../support/clients/outage.ts';
import { type Restarting, logged, openRestarting } from '../support/clients/restarts.ts';
import { createTally } from '../support/clients/tally.ts';
import { tokenFor } from '../support/gateway.ts';

let gateway: Restarting;
let apollo: ReturnType<typeof createApollo>;
beforeAll(async () => {
  gateway = await openRestarting();
  apollo = createApollo(`${gateway.url}/graphql`, () => tokenFor(['partner']));
});
afterAll(async () => {
  apollo.client.stop();
  await apollo.close();
  await gateway[Symbol.asyncDispose]();
});

afterEach(() => vi.restoreAllMocks());

const clinicId = () => gateway.sandbox.ids.clinic(0);

const firstOf = (query: ReturnType<typeof openClients>) =>
  firstValueFrom(
    query.pipe(
      map(({ data, dataState }) => (dataState === 'complete' ? data : undefined)),
      filter((data) => data !== undefined),
    ),
  );

it('merges the pages of a list, one at a time, with no client twice', async () => {
  const query = openClients(apollo.client, clinicId());
  const clients = () => {
    const { data, dataState } = query.getCurrentResult();
    return dataState === 'complete' ? data.clinic.clients : undefined;
  };
  const subscription = query.subscribe(() => {});
  await firstOf(query);
  const fetchMore = vi.spyOn(query, 'fetchMore');
  await Promise.all([showMore(query), showMore(query)]);
  expect(fetchMore).toHaveBeenCalledTimes(1);
  expect(clients()?.edges).toHaveLength(20);
  expect(await showMore(query)).toBe(true);
  expect(new Set(clients()?.edges.map(({ node }) => node.id)).size).toBe(30);
  expect(clients()?.totalCount).toBeGreaterThan(30);
  subscription.unsubscribe();
});

it('reads a page with a cursor again, not from the cache', async () => {
  const read = (clinic: string) => firstOf(openClients(apollo.client, clinic));
  await read(clinicId());
  const other = await read(gateway.sandbox.ids.clinic(1));
  gateway.sandbox.burst(1);
  await gateway.sandbox.delivered();
  expect(await logged(gateway, other.eventCursor)).not.toEqual([]);
  const { eventCursor } = await read(clinicId());
  expect(await logged(gateway, eventCursor)).toEqual([]);
});

it('keeps what several queries have read of the viewer', async () => {
  const subject = gql`
    query {
      viewer {
        subject
      }
    }
  `;
  const grants = gql`
    query {
      viewer {
        grants
      }
    }
  `;
  await apollo.client.query({ query: subject });
  await apollo.client.query({ query: grants });
  expect(apollo.client.cache.readQuery({ query: subject })).toMatchObject({
    viewer: { subject: 'tester' },
  });
});

it('receives each note after the query’s cursor once, over a restart', async () => {
  const { data } = await apollo.client.query({
    query: CLIENTS,
    variables: { clinicId: clinicId() },
    fetchPolicy: 'network-only',
  });
  const received = createTally<string>();
  const { eventCursor } = data!;
  const subscription = notesAfter(apollo.client, eventCursor).subscribe((result) => {
    received.add(result.data!.noteReady.cursor);
  });
  gateway.sandbox.burst(10);
  await received.reaches(3);
  await gateway.close();
  gateway.sandbox.burst(10);
  await gateway.open();
  await gateway.sandbox.delivered();
  const all = await logged(gateway, eventCursor, [
    'PROGRESS_NOTE_GENERATED',
    'PROGRESS_NOTE_REGENERATED',
  ]);
  await received.reaches(all.length);
  expect(received.all).toEqual(all);
  subscription.unsubscribe();
});

it('delivers an event whose note could not be read, and the next one without an error', async () => {
  const { eventCursor } = (await gateway.query('{ eventCursor organizations { totalCount } }'))
    .data;
  const received = createTally<unknown>();
  const subscription = notesAfter(apollo.client, eventCursor).subscribe(({ data, error }) => {
    received.add({ note: data?.noteReady.progressNote, codes: codesOf(error) });
  });
  finishUnreadableNote(gateway);
  await received.reaches(1);
  gateway.sandbox.burst(1);
  await received.reaches(2);
  expect(received.all).toEqual([
    { note: null, codes: ['UPSTREAM_UNAVAILABLE'] },
    { note: expect.objectContaining({ isLoading: false }), codes: [] },
  ]);
  subscription.unsubscribe();
});

it('updates a note that is shown when its event is delivered', async () => {
  const query = gql`
    query ($id: ID!, $clientId: ID!) {
      eventCursor
      session(id: $id, clientId: $clientId) {
        id
        progressNote {
          id
          note
        }
      }
    }
  `;
  const { ids } = gateway.sandbox;
  const shown = createTally<NoteShown>();
  const watched = apollo.client
    .watchQuery<NoteShown>({
      query,
      variables: { id: ids.session(0, 0), clientId: ids.client(0) },
      fetchPolicy: 'network-only',
    })
    .subscribe(({ data, dataState }) => dataState === 'complete' && shown.add(data));
  await shown.reaches(1);
  const { eventCursor, session } = shown.all[0]!;
  const subscription = notesAfter(apollo.client, eventCursor).subscribe(() => {});
  await gateway.query(
    'mutation($id: ID!) { regenerateProgressNote(input: { progressNoteId: $id }) { __typename } }',
    { id: session.progressNote.id },
  );
  await shown.reaches(2);
  expect(shown.all[1]!.session.progressNote.note).not.toEqual(session.progressNote.note);
  subscription.unsubscribe();
  watched.unsubscribe();
});

interface NoteShown {
  readonly eventCursor: string;
  readonly session: { readonly progressNote: { readonly id: string; readonly note: unknown } };
}

it('subscribes again after a transient error', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.1);
  const { grants, variables } = await failNextAccessCheck(gateway);
  const { client, close } = createApollo(`${gateway.url}/graphql`, () => tokenFor(grants));
  const received = createTally<unknown>();
  const subscription = client
    .subscribe({ query: gql(EVENTS_OF_CLIENT), variables })
    .subscribe(({ data, error }) => received.add(error ?? data));
  gateway.sandbox.completeAssessments(variables.filter.clientId);
  await received.reaches(1);
  expect(received.all).toMatchObject([{ events: { type: 'ASSESSMENT_COMPLETED' } }]);
  subscription.unsubscribe();
  await close();
});

it('reads the codes of errors', async () => {
  const query = gql`
    query {
      organizations(first: 0) {
        totalCount
      }
    }
  `;
  const failure = await apollo.client.query({ query }).catch((error: unknown) => error);
  expect(codesOf(failure)).toEqual(['BAD_USER_INPUT']);
  const unauthenticated = createApollo(`${gateway.url}/graphql`, () => 'not-a-token');
  const refused = await unauthenticated.client.query({ query }).catch((error: unknown) => error);
  expect(codesOf(refused)).toEqual(['UNAUTHENTICATED']);
  unauthenticated.client.stop();
});

it('has the possible types of every interface and union', () => {
  const schema = buildSchema(
    readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'),
  );
  const abstract = Object.values(schema.getTypeMap()).filter(isAbstractType);
  const sorted = Object.entries(possibleTypes).map(([name, types]) => [name, types.toSorted()]);
  expect(Object.fromEntries(sorted)).toEqual(
    Object.fromEntries(
      abstract.map((type) => [
        type.name,
        schema
          .getPossibleTypes(type)
          .map(({ name }) => name)
          .toSorted(),
      ]),
    ),
  );
});
