import { idOf } from './world.ts';

export const WORKLOADS = ['W1', 'W2S', 'W2'] as const;
export type Workload = (typeof WORKLOADS)[number];
/** How much of an answer may come from a cache. See the README. */
export type Mode = 'hot' | 'executed' | 'reshaped' | 'uncached';

const clinic = (ofNote: string, sessionId = 'sessionId') => `query Clinic($id: ID!, $hint: ID) {
  clinic(id: $id, organizationId: $hint) {
    clients(first: 25) {
      nodes {
        clientId firstName lastName
        sessions(first: 10) { nodes { ${sessionId} progressNote { ${ofNote} } } }
      }
    }
  }
}`;

export const DOCUMENTS: Readonly<Record<Workload, string>> = {
  W1: `query Note($id: ID!, $hint: ID) {
  progressNote(id: $id, sessionId: $hint) { progressNoteId isLoading note }
}`,
  W2S: clinic('progressNoteId isLoading'),
  W2: clinic('progressNoteId isLoading note'),
};

/** More than are asked for at the same time, and no answer is longer than another. */
const SHAPES = Array.from({ length: 16 }, (_, i) =>
  clinic('progressNoteId isLoading', `session${String(i).padStart(2, '0')}: sessionId`),
);

/** What a workload takes upstream when nothing is cached. */
export const UPSTREAM_CALLS: Readonly<Record<Workload, number>> = { W1: 1, W2S: 278, W2: 278 };

/** The record that is asked for where it may come from a cache. */
export const CACHED_INDEX = 1;

/**
 * The `n`th request's body. "executed" differs from request to request in a hint that nobody has a use for who needs
 * no search: no answer can be remembered whole, and nothing else changes. "reshaped" also asks for W2S by another
 * document than the request before, so that no row can be repeated as text. "uncached" asks for another record each time.
 */
export function requestBody(workload: Workload, mode: Mode, n: number): string {
  const kind = workload === 'W1' ? 'note' : 'clinic';
  const index = mode === 'uncached' ? 1_000 + n : CACHED_INDEX;
  const isExecuted = mode === 'executed' || mode === 'reshaped';
  const hint = isExecuted ? idOf(kind === 'note' ? 'session' : 'organization', n) : null;
  return JSON.stringify({
    query: mode === 'reshaped' ? SHAPES[n % SHAPES.length] : DOCUMENTS[workload],
    variables: { id: idOf(kind, index), hint },
  });
}
