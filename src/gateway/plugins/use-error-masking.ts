import { type ExecutionResult, GraphQLError, Kind } from 'graphql';
import { usePayloadFormatter } from 'graphql-yoga';

import { CodedError, NOT_FOUND, hasCode } from '../../errors.ts';
import type { Log } from '../../observability/log.ts';
import { PartnerConflict, PartnerError } from '../../rest/errors.ts';
import { ClientError, retryLater } from '../client-error.ts';
import type { ExecutionContext, GatewayParts } from '../gateway.ts';

/** The messages of the Partner API's errors name a route and are only logged. Clients read these instead. */
const PARTNER_MESSAGES: Readonly<Record<string, string>> = {
  BAD_USER_INPUT: 'The Partner API rejected the input.',
  NOT_FOUND,
  QUERY_TOO_EXPENSIVE:
    'This operation has used up its calls to the Partner API: ask for fewer rows.',
  TIMEOUT: 'The operation took too long, and ended before the Partner API had answered.',
  UPSTREAM_BAD_RESPONSE: 'The Partner API’s response is malformed, or about another record.',
  UPSTREAM_CREDENTIALS: 'The Partner API does not accept the credentials of this gateway.',
  UPSTREAM_RATE_LIMITED: 'Too many calls to the Partner API. Try again later.',
  UPSTREAM_ROUTE: 'The Partner API does not know the route of this request.',
  UPSTREAM_UNAVAILABLE: 'The Partner API failed or can’t be reached. Try again in a moment.',
};

/** If a result has more, those of one field and kind are merged: each takes time to create and to send. */
const MAX_ERRORS = 1_000;

/** Codes that a client may see. All other errors are masked. */
export const CLIENT_CODES: ReadonlySet<string> = new Set([
  ...Object.keys(PARTNER_MESSAGES),
  'OUTCOME_UNKNOWN',
  'UNAUTHENTICATED',
  'EVENTS_EXPIRED',
]);

/** Decides what a client may read of errors. Unexpected ones are logged and replaced. */
export function createErrorMasking(log: Pick<Log, 'error'>, maxUpstreamCalls: number) {
  const onUnexpected = (error: unknown, requestId?: string) =>
    log.error('unexpected error', { error, requestId });

  /** Also for Yoga's `maskedErrors`. */
  function maskError(error: unknown, requestId?: string): ClientError {
    if (error instanceof ClientError) return error;
    const located = error instanceof GraphQLError ? error : undefined;
    const cause = located ? (located.originalError ?? undefined) : error;
    const where = { nodes: located?.nodes, path: located?.path };
    const isStoreDown = hasCode(cause, 'STORE_UNAVAILABLE');
    const status = isStoreDown || /^(UPSTREAM_|TIMEOUT)/.test(Object(cause).code) ? 503 : 400;
    // Without a path there is no data: a subscription can't begin, or an argument is wrong.
    const later = status === 503 && { headers: retryLater(Object(cause).retryAfter) };
    const rejected = located?.path ? undefined : { status, spec: true, ...later };
    if (cause instanceof CodedError && CLIENT_CODES.has(cause.code)) {
      const { issues, retryAfter, oldestCursor } = cause as CodedError & Record<string, unknown>;
      const extensions = { issues, retryAfter, oldestCursor };
      return new ClientError(cause.code, messageOf(cause), { ...where, extensions }, rejected);
    }
    // Without the store, access can't be proven, and "not found" would be wrong.
    if (isStoreDown) {
      const message = 'This gateway can’t reach its own store. Try again in a moment.';
      return new ClientError('UPSTREAM_UNAVAILABLE', message, where, rejected);
    }
    // The client passed null for a variable that has a default and is used for a non-null argument, which graphql
    // notices only when it executes. The message names only the argument and its type.
    if (located?.nodes?.[0]?.kind === Kind.VARIABLE)
      return new ClientError('BAD_USER_INPUT', located.message, where, rejected);
    // Without a cause the error is graphql's own: a value of the wrong type, or a null for a non-null field.
    onUnexpected(cause ?? error, requestId);
    const http = located?.path ? undefined : { status: 500 };
    return new ClientError('INTERNAL_SERVER_ERROR', 'Unexpected error.', where, http);
  }

  /**
   * Masks the errors of a result, and sorts them by their position in the document: the order in which they occurred
   * would reveal whether a record was cached. If several make the same parent null, one is returned. Errors about a limit
   * that differ only in list indices are merged, with their `count`: a list has one, and not one for each row.
   */
  function maskErrors(result: ExecutionResult, estimate: number, requestId?: string) {
    const { data, errors = [] } = result;
    const distinct = [...merge(errors, ({ path }) => path && nullPosition(path, data)).keys()];
    const isMany = distinct.filter((error) => !isLimitError(error)).length > MAX_ERRORS;
    const isMerged = (error: GraphQLError) => isMany || isLimitError(error);
    const merged = merge(distinct, (error) => isMerged(error) && fieldAndKindOf(error));
    const sorted = [...merged].toSorted(([a], [b]) => inDocumentOrder(a, b));
    return sorted.map(([error, count]) => {
      const { nodes, path, originalError } = error;
      if (isLimitError(error) && originalError instanceof PartnerError) {
        const message = `At most ${maxUpstreamCalls} calls to the Partner API are made for one operation, and none was left here: ask for fewer rows.`;
        const extensions = { count, path, estimate, limit: maxUpstreamCalls };
        return new ClientError('QUERY_TOO_EXPENSIVE', message, { nodes, path, extensions });
      }
      const masked = maskError(error, requestId);
      if (count > 1) masked.extensions['count'] = count;
      return masked;
    });
  }

  return { onUnexpected, maskError, maskErrors };
}

/** Absent and forbidden records have the same code, and so the same message. */
function messageOf(error: CodedError): string {
  if (error instanceof PartnerConflict)
    return 'The request conflicts with the present state of the record.';
  if (!(error instanceof PartnerError)) return error.message;
  return PARTNER_MESSAGES[error.code] ?? 'The Partner API failed.';
}

/** Masks the errors of an operation's fields (`onExecute`). The plugins after it count and log the masked errors. */
export const useErrorMasking = ({ maskErrors }: GatewayParts) =>
  usePayloadFormatter((result, { contextValue }) => {
    if (!result.errors) return false;
    const { requestId, operation } = contextValue as ExecutionContext;
    return { ...result, errors: maskErrors(result, operation.estimated, requestId) };
  });

type KeyOf = (error: GraphQLError) => string | false | undefined;

/**
 * Keeps one of the errors with the same key, with their number, and each error without a key. There may be hundreds of
 * thousands, so they are not sorted.
 */
function merge(errors: readonly GraphQLError[], keyOf: KeyOf): Map<GraphQLError, number> {
  const groups = Map.groupBy(errors, (error) => keyOf(error) || error);
  return new Map(Array.from(groups.values(), (group) => [group.reduce(keptOf), group.length]));
}

const isExpected = ({ originalError }: GraphQLError) => originalError instanceof CodedError;

/** An unexpected one, so that it is logged, or else the first in the document. */
function keptOf(a: GraphQLError, b: GraphQLError): GraphQLError {
  if (isExpected(a) !== isExpected(b)) return isExpected(a) ? b : a;
  return inDocumentOrder(a, b) <= 0 ? a : b;
}

/** The field, without list indices, and the kind of error: two limits have one code, and two classes. */
function fieldAndKindOf({ path = [], originalError }: GraphQLError): string {
  const { code, constructor } = Object(originalError);
  return [...path.filter((key) => typeof key === 'string'), constructor.name, code].join('.');
}

/** The path that an error made null: its field, or a parent if the field is non-null. */
function nullPosition(path: readonly (string | number)[], data: unknown): string {
  let value = data as Record<string | number, unknown> | null | undefined;
  const position = path.filter((key) => {
    const exists = value !== null && value !== undefined;
    value = value?.[key] as typeof value;
    return exists;
  });
  return JSON.stringify(position);
}

/** Paths of the same field differ in an index, or in the alias of a parent. A numeric `Intl.Collator` takes 2 MB. */
function comparePaths(a: GraphQLError['path'] = [], b: GraphQLError['path'] = []): number {
  const at = a.findIndex((key, index) => key !== b[index]);
  const [keyOfA = '', keyOfB = ''] = [a[at], b[at]];
  return Number(keyOfA > keyOfB) - Number(keyOfA < keyOfB);
}

const inDocumentOrder = (a: GraphQLError, b: GraphQLError): number =>
  (a.positions?.[0] ?? 0) - (b.positions?.[0] ?? 0) || comparePaths(a.path, b.path);

/** About the limit of calls, of events or of the response's size. */
const isLimitError = ({ originalError }: GraphQLError): boolean =>
  hasCode(originalError, 'QUERY_TOO_EXPENSIVE');
