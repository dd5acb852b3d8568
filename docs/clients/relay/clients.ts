import {
  type Environment,
  createOperationDescriptor,
  fetchQuery,
  getFragment,
  getPaginationMetadata,
  getPaginationVariables,
  getRequest,
  getSingularSelector,
  graphql,
  requestSubscription,
} from 'relay-runtime';

import type { clientsNoteReadySubscription } from './__generated__/clientsNoteReadySubscription.graphql.ts';
import type { clientsQuery } from './__generated__/clientsQuery.graphql.ts';
import type { clients_clinic$data } from './__generated__/clients_clinic.graphql.ts';

const QUERY = graphql`
  query clientsQuery($clinicId: ID!) {
    eventCursor
    clinic(id: $clinicId) {
      id
      ...clients_clinic
    }
  }
`;

const FRAGMENT = graphql`
  fragment clients_clinic on Clinic
  @refetchable(queryName: "clientsPaginationQuery")
  @argumentDefinitions(
    count: { type: "Int", defaultValue: 10 }
    cursor: { type: "String" }
    filter: { type: "ClinicClientFilter" }
  ) {
    name
    clients(first: $count, after: $cursor, filter: $filter)
      @connection(key: "clients_clients", filters: ["filter"]) {
      totalCount
      edges {
        node {
          id
          lastName
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

const NOTE_READY = graphql`
  subscription clientsNoteReadySubscription($after: EventCursor) {
    noteReady(after: $after) {
      cursor
      progressNote {
        id
        isLoading
        note
      }
    }
  }
`;

/** A clinic and its clients, as `usePaginationFragment` would hold them for a component. */
export async function openClinic(environment: Environment, clinicId: string) {
  const { paginationRequest, paginationMetadata } = getPaginationMetadata(
    getFragment(FRAGMENT),
    'clients',
  );
  const operation = createOperationDescriptor(getRequest(QUERY), { clinicId });
  const retained = environment.retain(operation);
  const answer = await fetchQuery<clientsQuery>(environment, QUERY, { clinicId }).toPromise();
  const clinic = answer?.clinic;
  if (!answer || !clinic) throw new Error('No such clinic, or none that you may see.');

  const selector = getSingularSelector(getFragment(FRAGMENT), clinic);
  const read = () => environment.lookup(selector).data as unknown as clients_clinic$data;

  /** Through `node(id:)`: the clinic is not looked up again. */
  const load = (count: number, cursor: string | null | undefined) =>
    fetchQuery(
      environment,
      paginationRequest,
      getPaginationVariables('forward', count, cursor, { id: clinic.id }, {}, paginationMetadata),
    ).toPromise();

  return {
    eventCursor: answer.eventCursor,
    read,
    loadNext: (count: number) => load(count, read().clients?.pageInfo.endCursor),
    refetch: () => load(10, null),
    close: () => retained.dispose(),
  };
}

export const subscribeToNotes = (
  environment: Environment,
  after: string,
  onNote: (event: clientsNoteReadySubscription['response']['noteReady']) => void,
  onError: (error: Error) => void,
) =>
  requestSubscription<clientsNoteReadySubscription>(environment, {
    subscription: NOTE_READY,
    variables: { after },
    onNext: (response) => response && onNote(response.noteReady),
    onError,
  });
