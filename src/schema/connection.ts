import type { Connection, Edge, PageInfo as PageInfoShape } from '../connection/connection.ts';
import { type Named, auditedNode, auditedNodes } from '../resolvers/access/audit-reads.ts';
import { builder } from './builder.ts';
import {
  Assessment,
  Client,
  Clinic,
  Clinician,
  MagicEdit,
  Organization,
  Program,
  Session,
} from './refs.ts';

export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description:
    'Where a window of a list begins and ends, and whether there is more on either side.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether rows follow this window.',
      nullable: false,
      resolve: (info) => info.hasNextPage(),
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether rows precede this window.',
      nullable: false,
      resolve: (info) => info.hasPreviousPage(),
    }),
    startCursor: t.string({
      description: 'For `before`, to go on backwards. Null in an empty window.',
      resolve: (info) => info.startCursor(),
    }),
    endCursor: t.string({
      description: 'For `after`, to go on forwards. Null in an empty window.',
      resolve: (info) => info.endCursor(),
    }),
  }),
});

type NodeType<T> = ReturnType<typeof builder.objectRef<T>>;

/** The connection and edge types of one kind of node. Each member reads only the pages that it needs. */
function connectionOf<T extends Named>(noun: string, node: NodeType<T>) {
  const edge = builder.objectRef<Edge<T>>(`${noun}Edge`).implement({
    description: 'A row of the list and its place.',
    fields: (t) => ({
      cursor: t.string({
        description: 'For `after` or `before`.',
        nullable: false,
        resolve: (row) => row.cursor(),
      }),
      node: t.field({
        type: node,
        description: 'The record.',
        nullable: false,
        resolve: (row, args, ctx) => auditedNode(row, args, ctx) as never,
      }),
    }),
  });
  return builder.objectRef<Connection<T>>(`${noun}Connection`).implement({
    description: 'A window of a list.',
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        description: 'The rows with their cursors.',
        nullable: false,
        resolve: (window) => window.edges(),
      }),
      nodes: t.field({
        type: [node],
        description: 'The rows.',
        nullable: false,
        resolve: (window, args, ctx) => auditedNodes(window, args, ctx) as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Where the window ends and whether there is more.',
        nullable: false,
        resolve: (window) => window.pageInfo,
      }),
      totalCount: t.int({
        description: 'The length of the whole list.',
        nullable: false,
        resolve: (window) => window.totalCount(),
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

/** `first` and `last` take 1 to 100; without either, 10. */
export const windowArgs = builder.args((t) => ({
  first: t.int({ description: 'The first so many rows after `after`: 1 to 100.' }),
  after: t.string({ description: 'Only rows after this cursor.' }),
  last: t.int({ description: 'The last so many rows before `before`: 1 to 100.' }),
  before: t.string({ description: 'Only rows before this cursor.' }),
}));
