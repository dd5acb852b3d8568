import type { Sandbox } from '../../../sandbox/sandbox.ts';

export interface PricedQuery {
  readonly asks: string;
  /** Records are named as in the sandbox: `<clinic 0>` stands for an id. */
  readonly query: string;
  /** Queries on the same gateway have no data in common, so that each runs with empty caches. */
  readonly on: 'first' | 'second' | 'third' | 'fourth' | 'fifth';
}

/** Typical queries of frontends, and queries that show where calls are saved. */
export const pricedQueries: readonly PricedQuery[] = [
  {
    on: 'first',
    asks: 'A note by its id',
    query: '{ progressNote(id: "<note 0 0>") { isLoading note } }',
  },
  {
    on: 'first',
    asks: 'The first 25 clients of a clinic',
    query: '{ clinic(id: "<clinic 1>") { clients(first: 25) { nodes { firstName lastName } } } }',
  },
  {
    on: 'first',
    asks: 'The same with ten sessions each, and their notes',
    query: `{ clinic(id: "<clinic 0>") { clients(first: 25) { nodes { firstName
  sessions(first: 10) { nodes { progressNote { isLoading note } } } } } } }`,
  },
  {
    on: 'first',
    asks: 'The same list under two aliases: each page is read once',
    query: `{ clinic(id: "<clinic 2>") {
  a: clients(first: 20) { nodes { email } }
  b: clients(first: 20) { edges { cursor } } } }`,
  },
  {
    on: 'first',
    asks: 'Two overlapping ranges of a list: the pages of the longer one',
    query: `{ clinic(id: "<clinic 3>") {
  a: clients(first: 15) { nodes { email } }
  b: clients(first: 30) { nodes { email } } } }`,
  },
  {
    on: 'first',
    asks: 'Only the number of rows in a list',
    query: '{ clinic(id: "<clinic 4>") { clients { totalCount } } }',
  },
  {
    on: 'second',
    asks: 'Whether a list has more than 100 rows',
    query: '{ clinic(id: "<clinic 1>") { clients(first: 100) { pageInfo { hasNextPage } } } }',
  },
  {
    on: 'second',
    asks: 'The cursors of 100 rows: the pages of the first and the last row',
    query:
      '{ clinic(id: "<clinic 2>") { clients(first: 100) { pageInfo { startCursor endCursor } } } }',
  },
  {
    on: 'second',
    asks: 'The last ten of 420 rows: page one has the total',
    query: '{ clinic(id: "<clinic 0>") { clients(last: 10) { nodes { email } } } }',
  },
  {
    on: 'second',
    asks: 'A clinic by its id, with clients: no call for the clinic itself',
    query: '{ clinic(id: "<clinic 3>") { clinicId clients { nodes { email } } } }',
  },
  {
    on: 'third',
    asks: 'The name of a clinic by its id',
    query: '{ clinic(id: "<clinic 3>") { name } }',
  },
  {
    on: 'fourth',
    asks: 'The same with `organizationId`',
    query: '{ clinic(id: "<clinic 3>", organizationId: "<organization 1>") { name } }',
  },
  {
    on: 'fourth',
    asks: 'A client by their id, with `clinicianId`',
    query: '{ client(id: "<client 40>", clinicianId: "<clinician 1>") { firstName } }',
  },
  {
    on: 'second',
    asks: 'A client by the partner’s own identifier',
    query: `{ clinic(id: "<clinic 0>") { clients(filter: { externalId: "chart-010041" }) { nodes {
  firstName } } } }`,
  },
  {
    on: 'second',
    asks: 'Only the id of a record',
    query: '{ session(id: "<session 1 0>") { id sessionId } }',
  },
  {
    on: 'second',
    asks: 'A session with its note, transcript and MDM',
    query: `{ session(id: "<session 1 0>") { progressNote { note } transcriptStatus
  transcript { items { speaker transcript } } mdmStatus mdm { risk } } }`,
  },
  {
    on: 'second',
    asks: 'A clinician’s ten clients, each with the latest note',
    query: `{ clinician(id: "<clinician 0>") { clients { nodes { firstName
  sessions(first: 1) { nodes { progressNote { isLoading } } } } } } }`,
  },
  {
    on: 'fifth',
    asks: 'Organizations and their clinics, with the numbers of clinicians and clients',
    query: `{ organizations { nodes { name clinics { nodes { name
  clinicians { totalCount } clients { totalCount } } } } } }`,
  },
  {
    on: 'second',
    asks: 'Sessions with links back to their client and clinic',
    query: `{ clinic(id: "<clinic 4>") { clients(first: 3) { nodes {
  sessions(first: 2) { nodes { client { clientId clinic { clinicId } } } } } } } }`,
  },
  { on: 'first', asks: 'The partner record', query: '{ partner { raw } }' },
];

/** With the ids of a sandbox filled in. */
export const filledIn = ({ query }: PricedQuery, { ids }: Sandbox): string =>
  query.replaceAll(/<(\w+) (\d+)(?: (\d+))?>/g, (_, kind: string, first: string, second?: string) =>
    second === undefined
      ? ids[kind as 'client'](Number(first))
      : ids[kind as 'session'](Number(first), Number(second)),
  );
