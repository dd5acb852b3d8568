import { clientOfNote, idOf } from './world.ts';

export const WORKLOADS = ['W1', 'W2S', 'W2'] as const;
export type Workload = (typeof WORKLOADS)[number];
/** How much of an answer may come from a cache. See the README. */
export type Mode = 'hot' | 'executed' | 'uncached';

/** Variables in directives, as the frontends of components have them. */
const clinic = (
  ofNote: string,
) => `query Clinic($id: ID!, $hint: ID, $names: Boolean = true, $hidden: Boolean = false) {
  clinic(id: $id, organizationId: $hint) {
    clients(first: 25) {
      nodes {
        clientId firstName @include(if: $names) lastName @skip(if: $hidden)
        sessions(first: 10) { nodes { sessionId progressNote @include(if: $names) { ${ofNote} } } }
      }
    }
  }
}`;

export const DOCUMENTS: Readonly<Record<Workload, string>> = {
  W1: `query Note($id: ID!, $session: ID, $client: ID) {
  progressNote(id: $id, sessionId: $session, clientId: $client) { progressNoteId isLoading note }
}`,
  W2S: clinic('progressNoteId isLoading'),
  W2: clinic('progressNoteId isLoading note'),
};

/** The same with the `id` of every record, as frontends with a normalized cache select it. */
const withIds = (document: string): string =>
  document
    .replaceAll(/ (?=clientId |sessionId |progressNoteId )/g, ' id ')
    .replace('{\n    c', '{ id\n    c');

/** What a workload takes upstream when nothing is cached. */
export const UPSTREAM_CALLS: Readonly<Record<Workload, number>> = { W1: 1, W2S: 278, W2: 278 };

const noteIds = (index: number) => ({
  id: idOf('note', index),
  session: idOf('session', index),
  client: clientOfNote(index),
});

/** The record that is asked for where it may come from a cache. */
export const CACHED_INDEX = 1;

/**
 * The `n`th request's body. "executed" differs from request to request in a hint that a partner's clinic does not
 * need, or in a variable that W1 does not declare: no answer can be cached whole, and nothing else changes. "uncached" asks for another record each time.
 */
export function requestBody(workload: Workload, mode: Mode, n: number, hasIds = false): string {
  const index = mode === 'uncached' ? 1_000 + n : CACHED_INDEX;
  const other = mode === 'executed' ? n : undefined;
  const variables =
    workload === 'W1'
      ? { ...noteIds(index), other }
      : { id: idOf('clinic', index), hint: other && idOf('organization', other) };
  const query = hasIds ? withIds(DOCUMENTS[workload]) : DOCUMENTS[workload];
  return JSON.stringify({ query, variables });
}
