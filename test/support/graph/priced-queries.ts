import type { Sandbox } from '../../../sandbox/sandbox.ts';

export interface PricedQuery {
  readonly asks: string;
  /** Records are named as in the sandbox: `<clinic 0>` stands for an id. */
  readonly query: string;
  /** Queries on the same gateway ask for nothing in common, so that each is cold. */
  readonly on: 'first' | 'second' | 'third' | 'fourth' | 'fifth';
}

/** What frontends ask for, and what shows where calls are saved. */
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
    asks: 'The same list under two names: its pages once',
    query: `{ clinic(id: "<clinic 2>") {
  a: clients(first: 20) { nodes { email } }
  b: clients(first: 20) { edges { cursor } } } }`,
  },
  {
    on: 'first',
    asks: 'Two windows that overlap: the pages of the wider one',
    query: `{ clinic(id: "<clinic 3>") {
  a: clients(first: 15) { nodes { email } }
  b: clients(first: 30) { nodes { email } } } }`,
  },
  {
    on: 'first',
    asks: 'The length of a list alone',
    query: '{ clinic(id: "<clinic 4>") { clients { totalCount } } }',
  },
  {
    on: 'second',
    asks: 'Whether there are more than a hundred',
    query: '{ clinic(id: "<clinic 1>") { clients(first: 100) { pageInfo { hasNextPage } } } }',
  },
  {
    on: 'second',
    asks: 'The cursors of a hundred rows: the pages of the first and the last',
    query:
      '{ clinic(id: "<clinic 2>") { clients(first: 100) { pageInfo { startCursor endCursor } } } }',
  },
  {
    on: 'second',
    asks: 'The last ten of 420: page one tells the length, once',
    query: '{ clinic(id: "<clinic 0>") { clients(last: 10) { nodes { email } } } }',
  },
  {
    on: 'second',
    asks: 'A clinic by its id with its clients: none for the clinic itself',
    query: '{ clinic(id: "<clinic 3>") { clinicId clients { nodes { email } } } }',
  },
  {
    on: 'third',
    asks: 'A clinic’s name by its id',
    query: '{ clinic(id: "<clinic 3>") { name } }',
  },
  {
    on: 'fourth',
    asks: 'The same, and where to look',
    query: '{ clinic(id: "<clinic 3>", organizationId: "<organization 1>") { name } }',
  },
  {
    on: 'fourth',
    asks: 'A client by their id and their clinician’s',
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
    asks: 'A record known by its id, and no more of it',
    query: '{ session(id: "<session 1 0>") { id sessionId } }',
  },
  {
    on: 'second',
    asks: 'A session with all that was generated from it',
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
    asks: 'Organizations, their clinics, and how many clinicians and clients those have',
    query: `{ organizations { nodes { name clinics { nodes { name
  clinicians { totalCount } clients { totalCount } } } } } }`,
  },
  {
    on: 'second',
    asks: 'Sessions, and back up to the clinic: the way down is known',
    query: `{ clinic(id: "<clinic 4>") { clients(first: 3) { nodes {
  sessions(first: 2) { nodes { client { clientId clinic { clinicId } } } } } } } }`,
  },
  { on: 'first', asks: 'The partner itself', query: '{ partner { raw } }' },
];

/** With the ids of a sandbox filled in. */
export const filledIn = ({ query }: PricedQuery, { ids }: Sandbox): string =>
  query.replaceAll(/<(\w+) (\d+)(?: (\d+))?>/g, (_, kind: string, first: string, second?: string) =>
    second === undefined
      ? ids[kind as 'client'](Number(first))
      : ids[kind as 'session'](Number(first), Number(second)),
  );
