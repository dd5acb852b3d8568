import type { GraphQLResolveInfo } from 'graphql';

import type { Connection, Edge, PageInfo as PageInfoShape } from '../connection/connection.ts';
import type { WindowArgs } from '../connection/window.ts';
import type { Context } from '../context.ts';
import { auditRead } from '../resolvers/access/audit-reads.ts';
import { listIn } from '../resolvers/records.ts';
import { LISTS, type ListedRef } from '../resolvers/refs.ts';
import type { ListName, ListRef } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import { builder, optional, required } from './builder.ts';
import { listPrice } from './estimate-calls.ts';
import { neededOf } from './selections.ts';

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description: 'The first and last cursor of a page, and whether there are more rows.',
  fields: (t) => ({
    hasNextPage: t.expose(
      'hasNextPage',
      required('Boolean', 'Whether there are rows after this page.'),
    ),
    hasPreviousPage: t.expose(
      'hasPreviousPage',
      required('Boolean', 'Whether there are rows before this page.'),
    ),
    startCursor: t.expose(
      'startCursor',
      optional('String', 'Cursor of the first row, for `before`. Null on an empty page.'),
    ),
    endCursor: t.expose(
      'endCursor',
      optional(
        'String',
        'Cursor of the last row, for `after`. Null on an empty page, except in `events` if there are more.',
      ),
    ),
  }),
});

function returned(row: ListedRef, ctx: Context): ListedRef {
  ctx.responseSize.addRow();
  return auditRead(row, ctx);
}

/** The connection and edge types of one type of records. Each field reads only the upstream pages that it needs. */
function defineConnection(type: ListedRef['type']) {
  const edge = builder.objectRef<Edge<ListedRef>>(`${type}Edge`).implement({
    description: 'A row of the list and its cursor.',
    fields: (t) => ({
      cursor: t.field({
        ...required('String', 'Cursor of the row, for `after` or `before`.'),
        resolve: ({ connection, offset }, _args, ctx) => {
          ctx.responseSize.addSigned();
          // The page of an edge was read.
          return connection.cursorAt(offset)!;
        },
      }),
      node: t.field({
        ...required(type, 'The record.'),
        resolve: ({ node }, _args, ctx) => returned(node, ctx) as never,
      }),
    }),
  });
  builder.objectRef<Connection<ListedRef>>(`${type}Connection`).implement({
    description: 'A page of a list.',
    fields: (t) => ({
      edges: t.expose('edges', required([edge], 'The rows of the page with their cursors.')),
      nodes: t.field({
        ...required([type], 'The records of the page.'),
        resolve: ({ nodes }, _args, ctx) => nodes.map((row) => returned(row, ctx)) as never,
      }),
      pageInfo: t.field({
        ...required(PageInfo, 'Cursors of the page, and whether there are more rows.'),
        resolve: (page) => page,
      }),
      totalCount: t.expose('totalCount', required('Int', 'Number of rows in the whole list.')),
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

/** The arguments that a filter is made of. */
export interface FilterArgs {
  readonly filter?: object | null | undefined;
  readonly defaultOnly?: boolean | null | undefined;
}
interface ListArgs extends WindowArgs, FilterArgs {}

/** Options of a field that returns a list inside a record. */
export const list = <N extends ListName>(
  name: N,
  description: string,
  filterOf?: (args: FilterArgs, ctx: Context) => ListRef['filter'],
) => ({
  type: `${LISTS[name].row}Connection` as const,
  description,
  args: windowArgs,
  extensions: listPrice,
  resolve: (parent: ListedRef, args: ListArgs, ctx: Context, info: GraphQLResolveInfo) => {
    const filter = filterOf?.(args, ctx);
    return listIn(parent, { name, id: parent.id as Uuid, filter }, args, neededOf(info, ctx), ctx);
  },
});
