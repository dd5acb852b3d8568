import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';

import { createRecords } from './records.ts';
import { type PeerContext, resolvers, typeDefs } from './resolvers.ts';

const server = new ApolloServer<PeerContext>({ typeDefs, resolvers, csrfPrevention: false });
await startStandaloneServer(server, {
  context: async () => ({ records: createRecords() }),
  listen: { port: Number(process.env['PORT']), host: '127.0.0.1' },
});
