import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink } from '@apollo/client';
import { InMemoryCache } from '@apollo/client/cache';
import { SetContextLink } from '@apollo/client/link/context';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { relayStylePagination } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';

import { possibleTypes } from './possible-types.ts';
import { connect, resuming } from './resume.ts';

/** The pages of a list are merged. The same list with another filter is another list. */
const list = relayStylePagination();
const filteredList = relayStylePagination(['filter']);

const typePolicies = {
  Query: { fields: { organizations: list } },
  // It has no id: without this, each query would replace what others have read of it.
  Viewer: { merge: true, fields: { organizations: list } },
  Organization: { fields: { clinics: list, programs: list } },
  Clinic: {
    fields: {
      clinicians: filteredList,
      clients: filteredList,
      assessments: relayStylePagination(['defaultOnly']),
    },
  },
  Clinician: { fields: { clients: filteredList, magicEdits: list } },
  Client: { fields: { sessions: list, programs: list } },
};

export function createApollo(url: string, token: () => string | Promise<string>) {
  const authorize = new SetContextLink(async () => ({
    headers: { authorization: `Bearer ${await token()}` },
  }));
  const sockets = connect(url.replace(/^http/, 'ws'), token);
  const client = new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      new GraphQLWsLink(resuming(sockets)),
      authorize.concat(new HttpLink({ uri: url })),
    ),
    cache: new InMemoryCache({ typePolicies, possibleTypes }),
  });
  return { client, close: () => sockets.dispose() };
}

/** `extensions.code` of each error; empty if there was no response. */
export function codesOf(error: unknown): readonly string[] {
  if (!CombinedGraphQLErrors.is(error)) return [];
  return error.errors.map(({ extensions }) => String(extensions?.['code']));
}
