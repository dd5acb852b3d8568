import type { GraphQLAnswer } from '../gateway.ts';

/** The ids of all records of which an answer has more than the requested id. */
export function* recordIdsIn(value: GraphQLAnswer['data']): Generator<string> {
  if (Array.isArray(value)) {
    for (const item of value) yield* recordIdsIn(item);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const { clientId, sessionId, progressNoteId, assessmentScoreId } = value;
  if (clientId && (value.firstName || value.raw || value.sessions)) yield clientId;
  if (sessionId && (value.raw || value.progressNote || value.transcript)) yield sessionId;
  if (progressNoteId && value.note) yield progressNoteId;
  // Only the event names the client of a score: returning the score reveals the client.
  if (assessmentScoreId) yield assessmentScoreId;
  for (const [name, below] of Object.entries(value)) if (name !== 'raw') yield* recordIdsIn(below);
}
