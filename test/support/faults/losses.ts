import type { GraphQLAnswer } from '../gateway.ts';

type Ask = (document: string, variables?: object) => Promise<GraphQLAnswer>;

const PAGE = `query Ledger($after: EventCursor) {
  events(first: 100, after: $after, filter: { types: [PROGRESS_NOTE_GENERATED] }) {
  nodes { ... on ProgressNoteEvent { progressNoteId } } pageInfo { hasNextPage endCursor } } }`;

export async function cursorNow(query: Ask): Promise<string> {
  return (await query('{ eventCursor }')).data.eventCursor;
}

/** The notes of the generated events in the log, after a cursor if there is one, in its order. */
export async function logged(query: Ask, after?: string): Promise<readonly string[]> {
  const notes: string[] = [];
  for (let at = after; ;) {
    const { data, errors } = await query(PAGE, { after: at });
    if (!data?.events) throw new Error(`the log must be readable, but: ${JSON.stringify(errors)}`);
    const { events } = data;
    for (const { progressNoteId } of events.nodes) notes.push(progressNoteId);
    if (!events.pageInfo.hasNextPage) return notes;
    at = events.pageInfo.endCursor;
  }
}

export interface Losses {
  readonly lost: number;
  readonly repeated: number;
}

/** Compares the notes that were found with those that were acknowledged. */
export function lossesIn(acknowledged: ReadonlySet<string>, found: readonly string[]): Losses {
  const once = new Set(found);
  return { lost: acknowledged.difference(once).size, repeated: found.length - once.size };
}
