import {
  type CombinedError,
  type ExecutionResult,
  cacheExchange,
  createClient,
  fetchExchange,
  gql,
  subscriptionExchange,
} from '@urql/core';

import { connect, resuming } from './resume.ts';

export function createUrql(url: string, token: () => string) {
  const sockets = connect(url.replace(/^http/, 'ws'), token);
  const resumed = resuming(sockets);
  const client = createClient({
    url,
    // The gateway takes operations by POST only: a query in a URL ends up in logs.
    preferGetMethod: false,
    fetchOptions: () => ({ headers: { authorization: `Bearer ${token()}` } }),
    exchanges: [
      cacheExchange,
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables = {}, extensions }) => ({
          subscribe(sink) {
            // urql keeps the errors of one result until another has `errors`. In the first, `[]` would be a failure.
            let noErrors = {};
            const unsubscribe = resumed.subscribe(
              { query, variables: { ...variables }, extensions },
              {
                next(result) {
                  sink.next({ ...noErrors, ...result } as ExecutionResult);
                  noErrors = { errors: [] };
                },
                error: (reason) => sink.error(reason),
                complete: () => sink.complete(),
              },
            );
            return { unsubscribe };
          },
        }),
      }),
    ],
  });
  return { client, close: () => sockets.dispose() };
}

/** `extensions.code` of each error; empty if there was no response. */
export const codesOf = (error: CombinedError | undefined): readonly string[] =>
  (error?.graphQLErrors ?? []).map(({ extensions }) => String(extensions['code']));

export const CLIENTS = gql<
  {
    readonly eventCursor: string;
    readonly clinic: {
      readonly clients: {
        readonly nodes: readonly { readonly id: string; readonly lastName: string | null }[];
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      };
    };
  },
  { clinicId: string; after?: string | null }
>`
  query Clients($clinicId: ID!, $after: String) {
    eventCursor
    clinic(id: $clinicId) {
      id
      clients(first: 10, after: $after) {
        nodes {
          id
          firstName
          lastName
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

export const NOTE_READY = gql<
  { readonly noteReady: { readonly cursor: string; readonly type: string } },
  { after: string }
>`
  subscription NoteReady($after: EventCursor) {
    noteReady(after: $after) {
      cursor
      type
      progressNote {
        id
        isLoading
        note
      }
    }
  }
`;
