import fastify from 'fastify';
import mercurius from 'mercurius';

import { createRecords } from './records.ts';
import { resolvers, typeDefs } from './resolvers.ts';

const app = fastify({ logger: false });
await app.register(mercurius.default ?? mercurius, {
  schema: typeDefs,
  resolvers: resolvers as never,
  context: () => ({ records: createRecords() }),
  // Compiled from the first request on.
  jit: 1,
});
await app.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
