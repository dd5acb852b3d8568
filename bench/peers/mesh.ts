import { createServer } from 'node:http';

import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { defineConfig, getComposedSchemaFromConfig } from '@graphql-mesh/compose-cli';
import { DefaultLogger } from '@graphql-mesh/utils';

import { PAGE_SIZE } from '../world.ts';
import { partnerSubgraph } from './mesh-subgraph.ts';

/** GraphQL Mesh over Hive Gateway: the REST routes as a subgraph, the graph's own shape on top of it. */
type Ask = (call: {
  readonly root: unknown;
  readonly args: Readonly<Record<string, string>>;
  readonly context: Context;
  readonly info: unknown;
  readonly selectionSet?: string;
}) => Promise<never>;
interface Context {
  readonly partner: { readonly Query: Readonly<Record<string, Ask>> };
}
interface Page {
  readonly data: readonly unknown[];
  readonly meta: { readonly totalItems: number };
}
interface First {
  readonly first: number;
}

const ask = (field: string, context: Context): Ask => {
  const asked = context.partner.Query[field];
  if (!asked) throw new Error(`${field} must be in the subgraph, but is not`);
  return asked;
};

const rowsOf =
  (field: string, idName: string, ofRow: string) =>
  async (root: Record<string, string>, { first }: First, context: Context, info: unknown) => {
    const selectionSet = `{ data { ${ofRow} } meta { totalItems } }`;
    const page = (number: number): Promise<Page> => {
      const args = { id: root[idName] ?? '', page: String(number) };
      return ask(field, context)({ root: {}, args, context, info, selectionSet });
    };
    const head = await page(1);
    const last = Math.ceil(Math.min(first, head.meta.totalItems) / PAGE_SIZE);
    const rest = await Promise.all(
      Array.from({ length: Math.max(0, last - 1) }, (_, i) => page(i + 2)),
    );
    return { nodes: [head, ...rest].flatMap(({ data }) => data).slice(0, first) };
  };

const noteOf =
  (field: string, idOf: (root: Record<string, string>, args: { id: string }) => string) =>
  (root: Record<string, string>, args: { id: string }, context: Context, info: unknown) =>
    ask(field, context)({ root, args: { id: idOf(root, args) }, context, info });

const additionalTypeDefs = `
  extend type Query {
    progressNote(id: ID!, sessionId: ID, clientId: ID): ProgressNote
    clinic(id: ID!, organizationId: ID): Clinic
  }
  type Clinic { id: ID! clients(first: Int!): ClientConnection }
  type ClientConnection { nodes: [Client!]! }
  extend type Client { clientId: ID! sessions(first: Int!): SessionConnection }
  type SessionConnection { nodes: [Session!]! }
  extend type Session { progressNote: ProgressNote }
`;

const additionalResolvers = {
  Query: {
    progressNote: noteOf('noteById', (_root, { id }) => id),
    clinic: (_root: unknown, { id }: { id: string }) => ({ id }),
  },
  Clinic: { clients: rowsOf('clientsPage', 'id', 'id firstName lastName') },
  Client: {
    clientId: { selectionSet: '{ id }', resolve: ({ id }: { id: string }) => id },
    sessions: { selectionSet: '{ id }', resolve: rowsOf('sessionsPage', 'id', 'sessionId') },
  },
  Session: {
    progressNote: {
      selectionSet: '{ sessionId }',
      resolve: noteOf('noteOfSession', ({ sessionId }) => sessionId ?? ''),
    },
  },
};

const config = defineConfig({ subgraphs: [{ sourceHandler: partnerSubgraph() }] });
const gateway = createGatewayRuntime({
  supergraph: await getComposedSchemaFromConfig(config, new DefaultLogger()),
  additionalTypeDefs,
  additionalResolvers: additionalResolvers as never,
  logging: false,
});
createServer((req, res) => void gateway(req, res)).listen(Number(process.env['PORT']), '127.0.0.1');
