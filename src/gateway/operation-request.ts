import { MOST_LEVELS, isNestedTooDeep } from '../nesting.ts';
import { type Refusal, refuseTransport } from './refusal.ts';

/** What a client asks for, whichever door it came through. */
export interface OperationRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly operationName: string | undefined;
}

/** In the words by which clients know that they have to send the document itself. */
const PERSISTED_QUERIES_OFF = 'PersistedQueryNotSupported';

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads only the names it knows, so that nothing else in a body (`__proto__` included) can have an effect. */
export function readOperationRequest(body: unknown): OperationRequest | Refusal {
  if (Array.isArray(body))
    return refuseTransport(400, 'Batching is not supported: send one operation a request.');
  if (!isPlainObject(body))
    return refuseTransport(400, 'The body must be a JSON object with a "query".');
  const { query, variables, operationName, extensions } = body;
  if (!isGiven(query) && isPlainObject(extensions) && isGiven(extensions['persistedQuery'])) {
    return refuseTransport(404, PERSISTED_QUERIES_OFF, 'NOT_FOUND');
  }
  if (typeof query !== 'string' || query === '') {
    return refuseTransport(400, '"query" must be a string that holds a GraphQL document.');
  }
  if (isGiven(variables) && !isPlainObject(variables)) {
    return refuseTransport(400, '"variables" must be an object.');
  }
  if (isNestedTooDeep(variables)) {
    const most = `"variables" may be nested at most ${MOST_LEVELS} levels deep`;
    return refuseTransport(400, `${most}, and these are deeper.`);
  }
  if (isGiven(operationName) && typeof operationName !== 'string') {
    return refuseTransport(400, '"operationName" must be a string.');
  }
  if (isGiven(extensions) && !isPlainObject(extensions)) {
    return refuseTransport(400, '"extensions" must be an object.');
  }
  return {
    query,
    variables: isPlainObject(variables) ? variables : undefined,
    operationName: typeof operationName === 'string' ? operationName : undefined,
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
