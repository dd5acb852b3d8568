import type { ObjectRef } from '@pothos/core';

import type { Connection, Edge, PageInfo as PageInfoShape } from '../connection/connection.ts';
import { type AuditedRecord, auditedNode, auditedNodes } from '../resolvers/access/audit-reads.ts';
import { listOf } from '../resolvers/list.ts';
import { listPrice } from '../resolvers/price.ts';
import type { NodeOf } from '../resolvers/refs.ts';
import type { ListName } from '../rest/lists.ts';
import { builder, required } from './builder.ts';
import {
  Assessment,
  Client,
  Clinic,
  Clinician,
  MagicEdit,
  Organization,
  Program,
  Session,
} from './nodes/refs.ts';

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description: 'The first and last cursor of a page, and whether there are more rows.',
  fields: (t) => ({
    hasNextPage: t.field({
      ...required('Boolean', 'Whether there are rows after this page.'),
      resolve: (info) => info.hasNextPage(),
    }),
    hasPreviousPage: t.field({
      ...required('Boolean', 'Whether there are rows before this page.'),
      resolve: (info) => info.hasPreviousPage(),
    }),
    startCursor: t.string({
      description: 'Cursor of the first row, for `before`. Null on an empty page.',
      resolve: (info) => info.startCursor(),
    }),
    endCursor: t.string({
      description: 'Cursor of the last row, for `after`. Null on an empty page.',
      resolve: (info) => info.endCursor(),
    }),
  }),
});

type NodeType<T> = ReturnType<typeof builder.objectRef<T>>;

/** The connection and edge types of one kind of node. Each field reads only the upstream pages that it needs. */
function connectionOf<T extends AuditedRecord>(noun: string, node: NodeType<T>) {
  const edge = builder.objectRef<Edge<T>>(`${noun}Edge`).implement({
    description: 'A row of the list and its cursor.',
    fields: (t) => ({
      cursor: t.field({
        ...required('String', 'Cursor of the row, for `after` or `before`.'),
        resolve: (row) => row.cursor(),
      }),
      node: t.field({
        ...required(node, 'The record.'),
        resolve: (row, args, ctx) => auditedNode(row, args, ctx) as never,
      }),
    }),
  });
  return builder.objectRef<Connection<T>>(`${noun}Connection`).implement({
    description: 'A page of a list.',
    fields: (t) => ({
      edges: t.field({
        ...required([edge], 'The rows of the page with their cursors.'),
        resolve: (page) => page.edges(),
      }),
      nodes: t.field({
        ...required([node], 'The records of the page.'),
        resolve: (page, args, ctx) => auditedNodes(page, args, ctx) as never,
      }),
      pageInfo: t.field({
        ...required(PageInfo, 'Cursors of the page, and whether there are more rows.'),
        resolve: (page) => page.pageInfo,
      }),
      totalCount: t.field({
        ...required('Int', 'Number of rows in the whole list.'),
        resolve: (page) => page.totalCount(),
      }),
    }),
  });
}

export const OrganizationConnection = connectionOf('Organization', Organization);
export const ClinicConnection = connectionOf('Clinic', Clinic);
export const ProgramConnection = connectionOf('Program', Program);
export const ClinicianConnection = connectionOf('Clinician', Clinician);
export const ClientConnection = connectionOf('Client', Client);
export const SessionConnection = connectionOf('Session', Session);
export const AssessmentConnection = connectionOf('Assessment', Assessment);
export const MagicEditConnection = connectionOf('MagicEdit', MagicEdit);

/** Without `first` and `last`, ten rows. */
export const windowArgs = builder.args((t) => ({
  first: t.int({
    description:
      'Number of rows from the start of the list, or after `after`: 1 to 100, 10 by default.',
  }),
  after: t.string({ description: 'Only rows after this cursor.' }),
  last: t.int({
    description: 'Number of rows from the end of the list, or before `before`: 1 to 100.',
  }),
  before: t.string({ description: 'Only rows before this cursor.' }),
}));

/** Options of a field that returns a list inside a record. */
export const list = <N extends ListName>(
  name: N,
  type: ObjectRef<typeof builder.$inferSchemaTypes, Connection<NodeOf<N>>>,
  description: string,
) => ({ type, description, args: windowArgs, extensions: listPrice, resolve: listOf(name) });
