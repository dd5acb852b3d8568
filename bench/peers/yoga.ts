import { createServer } from 'node:http';

import SchemaBuilder from '@pothos/core';
import { createYoga } from 'graphql-yoga';

import { type Note, type Row, createRecords } from './records.ts';
import type { PeerContext } from './resolvers.ts';

/** Plain Yoga, Pothos, DataLoader and an LRU: the gateway's own versions, but for graphql 16, which is no slower. */
const builder = new SchemaBuilder<{
  Context: PeerContext;
  Scalars: { JSON: { Input: unknown; Output: unknown } };
}>({});
builder.scalarType('JSON', { serialize: (value) => value });

interface Rows {
  readonly nodes: readonly Row[];
}
const ProgressNote = builder.objectRef<Note>('ProgressNote').implement({
  fields: (t) => ({
    progressNoteId: t.exposeID('progressNoteId'),
    isLoading: t.exposeBoolean('isLoading'),
    note: t.field({ type: ['JSON'], resolve: ({ note }) => [...note] }),
  }),
});
const Session = builder.objectRef<Row>('Session').implement({
  fields: (t) => ({
    sessionId: t.exposeID('sessionId'),
    progressNote: t.field({
      type: ProgressNote,
      nullable: true,
      resolve: ({ sessionId }, _args, { records }) => records.noteOfSession(sessionId),
    }),
  }),
});
const SessionConnection = builder.objectRef<Rows>('SessionConnection').implement({
  fields: (t) => ({ nodes: t.field({ type: [Session], resolve: ({ nodes }) => nodes }) }),
});
const Client = builder.objectRef<Row>('Client').implement({
  fields: (t) => ({
    clientId: t.exposeID('id'),
    firstName: t.exposeString('firstName'),
    lastName: t.exposeString('lastName'),
    sessions: t.field({
      type: SessionConnection,
      args: { first: t.arg.int({ required: true }) },
      resolve: async ({ id }, { first }, { records }) => ({
        nodes: await records.rows(`/clients/${id}/sessions`, first),
      }),
    }),
  }),
});
const ClientConnection = builder.objectRef<Rows>('ClientConnection').implement({
  fields: (t) => ({ nodes: t.field({ type: [Client], resolve: ({ nodes }) => nodes }) }),
});
const Clinic = builder.objectRef<{ id: string }>('Clinic').implement({
  fields: (t) => ({
    clients: t.field({
      type: ClientConnection,
      args: { first: t.arg.int({ required: true }) },
      resolve: async ({ id }, { first }, { records }) => ({
        nodes: await records.rows(`/clinics/${id}/clients`, first),
      }),
    }),
  }),
});
builder.queryType({
  fields: (t) => ({
    progressNote: t.field({
      type: ProgressNote,
      nullable: true,
      args: { id: t.arg.id({ required: true }), sessionId: t.arg.id(), clientId: t.arg.id() },
      resolve: (_root, { id }, { records }) => records.note(id),
    }),
    clinic: t.field({
      type: Clinic,
      nullable: true,
      args: { id: t.arg.id({ required: true }), organizationId: t.arg.id() },
      resolve: (_root, { id }) => ({ id }),
    }),
  }),
});

const yoga = createYoga({
  schema: builder.toSchema(),
  context: () => ({ records: createRecords() }),
  graphiql: false,
  logging: false,
});
createServer((req, res) => void yoga(req, res)).listen(Number(process.env['PORT']), '127.0.0.1');
