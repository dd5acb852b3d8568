import {
  type ApolloClient,
  type ObservableQuery,
  type TypedDocumentNode,
  gql,
} from '@apollo/client';

interface Clients {
  readonly eventCursor: string;
  readonly clinic: {
    readonly id: string;
    readonly clients: {
      readonly totalCount: number;
      readonly edges: readonly { readonly node: { readonly id: string } }[];
      readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
    };
  };
}

/** `edges`, not `nodes`: only those are joined page by page. */
export const CLIENTS: TypedDocumentNode<Clients, { clinicId: string; after?: string | null }> = gql`
  query Clients($clinicId: ID!, $after: String) {
    eventCursor
    clinic(id: $clinicId) {
      id
      clients(first: 10, after: $after, filter: { status: ACTIVE }) {
        totalCount
        edges {
          node {
            id
            firstName
            lastName
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
`;

type ClientsQuery = ObservableQuery<Clients, { clinicId: string; after?: string | null }>;

/** From the network: the cache has one `eventCursor` for all queries, which may be later than the page that it has. */
export const openClients = (client: ApolloClient, clinicId: string): ClientsQuery =>
  client.watchQuery({ query: CLIENTS, variables: { clinicId }, fetchPolicy: 'network-only' });

const loading = new WeakMap<ClientsQuery, Promise<boolean>>();

/** Adds the next page to what the query shows; false if there is none. Loads one page at a time. */
export function showMore(query: ClientsQuery): Promise<boolean> {
  const page = loading.get(query) ?? loadMore(query).finally(() => loading.delete(query));
  loading.set(query, page);
  return page;
}

async function loadMore(query: ClientsQuery): Promise<boolean> {
  const { data, dataState } = query.getCurrentResult();
  if (dataState !== 'complete') return false;
  const { hasNextPage, endCursor } = data.clinic.clients.pageInfo;
  if (!hasNextPage) return false;
  await query.fetchMore({ variables: { after: endCursor } });
  // The query gets the page one turn later.
  await new Promise((resolve) => setTimeout(resolve));
  return true;
}

interface NoteReady {
  readonly noteReady: {
    readonly cursor: string;
    readonly progressNote: { readonly id: string; readonly note: readonly unknown[] } | null;
  };
}

export const NOTE_READY: TypedDocumentNode<NoteReady, { after: string }> = gql`
  subscription NoteReady($after: EventCursor) {
    noteReady(after: $after) {
      cursor
      session {
        id
      }
      progressNote {
        id
        isLoading
        note
      }
    }
  }
`;

/**
 * Starts after the `eventCursor` of the query that filled the page, so that no event is missed. Updates the notes in the
 * cache. `all`: an event is delivered even if its note could not be read.
 */
export const notesAfter = (client: ApolloClient, after: string) =>
  client.subscribe({ query: NOTE_READY, variables: { after }, errorPolicy: 'all' });
