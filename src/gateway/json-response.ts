import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { FetchAPI, GraphQLHTTPExtensions } from 'graphql-yoga';

import { acceptedBy } from './request.ts';
import type { HttpContext } from './yoga.ts';

const httpOf = ({ extensions }: GraphQLError): GraphQLHTTPExtensions | undefined =>
  extensions['http'];

/** An error as a client reads it: what is meant for HTTP is not in it. */
export function formatError(error: GraphQLError, requestId?: string): GraphQLFormattedError {
  const { extensions, ...formatted } = error.toJSON();
  const { http: _http, ...others } = extensions ?? {};
  return { ...formatted, extensions: requestId === undefined ? others : { ...others, requestId } };
}

/** Errors come first: whoever reads a long answer sees them. */
export function jsonOf({ data, errors, extensions }: ExecutionResult, requestId?: string): string {
  const formatted = errors?.map((error) => formatError(error, requestId));
  return JSON.stringify({ errors: formatted, data, extensions });
}

/** The error, if any, by which HTTP and not GraphQL refuses the request. */
export const httpErrorIn = ({ errors }: ExecutionResult): GraphQLError | undefined =>
  errors?.find((error) => httpOf(error) && !httpOf(error)?.spec);

/** The code of a result whose operation was not executed: that has no `data`. */
export const rejectedCodeOf = (result: ExecutionResult): string | undefined =>
  result.errors && !('data' in result) ? String(result.errors[0]?.extensions['code']) : undefined;

/** For results that Yoga serializes. */
export function withRequestId(error: GraphQLError, requestId: string | undefined): GraphQLError {
  const { message, nodes, source, positions, path, originalError } = error;
  const extensions = { ...error.extensions, requestId };
  return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions });
}

/** A result as JSON, with the status that Yoga gives it. */
export function jsonResponse(
  result: ExecutionResult,
  context: HttpContext,
  fetchAPI: FetchAPI,
): Response {
  const rejectedCode = rejectedCodeOf(result);
  if (rejectedCode !== undefined) context.rejectedCode = rejectedCode;
  const { json = 'application/json' } = acceptedBy(context.req.headers.accept);
  // New for each response, since Yoga adds to them.
  const headers: Record<string, string> = {
    'content-type': `${json}; charset=utf-8`,
    'cache-control': 'no-store',
  };
  let status = 200;
  for (const http of result.errors?.map(httpOf) ?? []) {
    Object.assign(headers, http?.headers);
    const isOk = http?.spec && json === 'application/json';
    if (http?.status && !isOk) status = Math.max(status, http.status);
  }
  return new fetchAPI.Response(jsonOf(result, context.requestId), { status, headers });
}
