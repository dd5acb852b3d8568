import type { InputFieldMap } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';

import type { Connection, Edge, PageInfo } from '../connection/connection.ts';
import type { WindowArgs } from '../connection/window.ts';
import { type Context, ROW_BYTES, SIGNED_BYTES } from '../context.ts';
import { BadInput } from '../errors.ts';
import { auditRead } from '../resolvers/access/prove.ts';
import { connectionIn } from '../resolvers/records.ts';
import { LISTS, type ListedRef } from '../resolvers/refs.ts';
import type { ListName, ListRef } from '../rest/lists.ts';
import type { Uuid } from '../uuid.ts';
import { builder, objectType, required } from './builder.ts';
import { parseId } from './global-id.ts';
import { connectionNeed } from './selections.ts';

objectType(
  'PageInfo',
  'The first and last cursor of a page, and whether there are more rows.',
  () => ({
    hasNextPage: required('Boolean', 'Whether there are rows after this page.'),
    hasPreviousPage: required('Boolean', 'Whether there are rows before this page.'),
    startCursor: 'Cursor of the first row, for `before`. Null on an empty page.',
    endCursor:
      'Cursor of the last row, for `after`. Null on an empty page, except in `events` if there are more.',
  }),
);

function countAndAudit(row: ListedRef, ctx: Context): ListedRef {
  ctx.responseSize.add(ROW_BYTES);
  return auditRead(row, ctx);
}

const nodeOf = ({ node }: Edge<ListedRef>, _args: unknown, ctx: Context) =>
  countAndAudit(node, ctx) as never;

const nodesOf = ({ nodes }: Connection<ListedRef>, _args: unknown, ctx: Context) =>
  nodes.map((row) => countAndAudit(row, ctx)) as never[];
const edgesOf = ({ edges }: Connection<ListedRef>) => edges as never[];

function cursorOf({ connection, offset }: Edge<ListedRef>, _args: unknown, ctx: Context): string {
  ctx.responseSize.add(SIGNED_BYTES);
  // The page of an edge was read.
  return connection.cursorAt(offset)!;
}

// Each field reads only the upstream pages that it needs.
for (const type of new Set(Object.values(LISTS).map(({ row }) => row))) {
  objectType(`${type}Edge`, 'A row of the list and its cursor.', () => ({
    cursor: required('String', 'Cursor of the row, for `after` or `before`.', cursorOf),
    node: required(type, 'The record.', nodeOf),
  }));
  objectType(`${type}Connection`, 'A page of a list.', () => ({
    // graphql-jit reads a list without a resolver five times.
    edges: required([`${type}Edge`], 'The rows of the page with their cursors.', edgesOf),
    nodes: required([type], 'The records of the page.', nodesOf),
    pageInfo: required(
      'PageInfo',
      'Cursors of the page, and whether there are more rows.',
      (page: PageInfo) => page,
    ),
    totalCount: required('Int', 'Number of rows in the whole list.'),
  }));
}

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

interface ListArgs extends WindowArgs {
  readonly filter?: object | null | undefined;
  readonly defaultOnly?: boolean | null | undefined;
}

const MAX_CHARACTERS = 200;

/**
 * Query parameters of a list, which the Partner API combines with AND. Messages leave the values out: they are patient
 * data. An empty filter is no filter: the same list, cursors and cached pages.
 */
function filterOf({ filter, defaultOnly }: ListArgs, { ids }: Context): ListRef['filter'] {
  const given = Object.entries({ ...filter, defaultOnly: defaultOnly?.toString() }).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const issues = given
    .filter(([, text]) => text.trim() === '' || text.length > MAX_CHARACTERS)
    .map(
      ([name, { length }]) =>
        `"${name}" must have 1 to ${MAX_CHARACTERS} characters and not be blank, but got ${length}`,
    );
  if (issues.length > 0) throw new BadInput(...issues);
  const query = given.map(([name, text]) => {
    // The Partner API rejects such a number, so the call is saved.
    if (name === 'phoneNumber' && !text.startsWith('+'))
      throw new BadInput('"phoneNumber" must begin with its calling code, as in +15550100.');
    // The only ids in filters are those of clinicians.
    const isId = name === 'id' || name === 'clinicianId';
    return [name, isId ? parseId('Clinician', name, text, ids).id : text] as const;
  });
  return query.length > 0 ? Object.fromEntries(query) : undefined;
}

/** Options of a field that returns a list inside a record. */
export const listField = <N extends ListName, F extends InputFieldMap>(
  name: N,
  description: string,
  filters?: F,
) => ({
  type: `${LISTS[name].row}Connection` as const,
  description,
  args: { ...windowArgs, ...filters } as typeof windowArgs & F,
  resolve: (parent: ListedRef, args: ListArgs, ctx: Context, info: GraphQLResolveInfo) => {
    const list = { name, id: parent.id as Uuid, filter: filters && filterOf(args, ctx) };
    return connectionIn(parent, { list, args, need: connectionNeed(info, ctx) }, ctx);
  },
});
