import type { Connection, Edge, PageInfo as PageInfoShape } from '../connection/connection.ts';
import { auditRead, auditRows } from '../resolvers/access/audit-reads.ts';
import { listOf } from '../resolvers/records.ts';
import { LISTS, type ListedRef } from '../resolvers/refs.ts';
import type { ListName } from '../rest/lists.ts';
import { builder, optional, required } from './builder.ts';
import { listPrice } from './estimate-calls.ts';

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
    startCursor: t.field({
      ...optional('String', 'Cursor of the first row, for `before`. Null on an empty page.'),
      resolve: (info) => info.startCursor(),
    }),
    endCursor: t.field({
      ...optional('String', 'Cursor of the last row, for `after`. Null on an empty page.'),
      resolve: (info) => info.endCursor(),
    }),
  }),
});

/** The connection and edge types of one type of records. Each field reads only the upstream pages that it needs. */
function defineConnection(type: ListedRef['type']) {
  const edge = builder.objectRef<Edge<ListedRef>>(`${type}Edge`).implement({
    description: 'A row of the list and its cursor.',
    fields: (t) => ({
      cursor: t.field({
        ...required('String', 'Cursor of the row, for `after` or `before`.'),
        resolve: (row) => row.cursor(),
      }),
      node: t.field({
        ...required(type, 'The record.'),
        resolve: (row, _args, ctx) => auditRead(row.node, ctx) as never,
      }),
    }),
  });
  builder.objectRef<Connection<ListedRef>>(`${type}Connection`).implement({
    description: 'A page of a list.',
    fields: (t) => ({
      edges: t.field({
        ...required([edge], 'The rows of the page with their cursors.'),
        resolve: (page) => page.edges(),
      }),
      nodes: t.field({
        ...required([type], 'The records of the page.'),
        resolve: (page, _args, ctx) => auditRows(page.nodes(), ctx) as never,
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
for (const type of new Set(Object.values(LISTS).map(({ row }) => row))) defineConnection(type);

/** The arguments of a connection. Without `first` and `last` it has ten rows. */
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
export const list = <N extends ListName>(name: N, description: string) => ({
  type: `${LISTS[name].row}Connection` as const,
  description,
  args: windowArgs,
  extensions: listPrice,
  resolve: listOf(name),
});
