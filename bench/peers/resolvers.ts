import type { Records, Row } from './records.ts';

/** For the peers that take SDL and a map of resolvers. */
export const typeDefs = `
  scalar JSON
  type Query {
    progressNote(id: ID!, sessionId: ID, clientId: ID): ProgressNote
    clinic(id: ID!, organizationId: ID): Clinic
  }
  type Clinic { clients(first: Int!): ClientConnection }
  type ClientConnection { nodes: [Client!]! }
  type Client { clientId: ID! firstName: String lastName: String sessions(first: Int!): SessionConnection }
  type SessionConnection { nodes: [Session!]! }
  type Session { sessionId: ID! progressNote: ProgressNote }
  type ProgressNote { progressNoteId: ID isLoading: Boolean! note: [JSON!]! }
`;

export interface PeerContext {
  readonly records: Records;
}
interface First {
  readonly first: number;
}

export const resolvers = {
  Query: {
    progressNote: (_root: unknown, { id }: { id: string }, { records }: PeerContext) =>
      records.note(id),
    clinic: (_root: unknown, { id }: { id: string }) => ({ id }),
  },
  Clinic: {
    clients: async ({ id }: { id: string }, { first }: First, { records }: PeerContext) => ({
      nodes: await records.rows(`/clinics/${id}/clients`, first),
    }),
  },
  Client: {
    clientId: ({ id }: Row) => id,
    sessions: async ({ id }: Row, { first }: First, { records }: PeerContext) => ({
      nodes: await records.rows(`/clients/${id}/sessions`, first),
    }),
  },
  Session: {
    progressNote: ({ sessionId }: Row, _args: unknown, { records }: PeerContext) =>
      records.noteOfSession(sessionId),
  },
};
