import type { IncomingMessage } from 'node:http';

import type { ExecutionResult, GraphQLError, GraphQLFormattedError } from 'graphql';
import type { FetchAPI, GraphQLHTTPExtensions } from 'graphql-yoga';

import { acceptedBy } from './request.ts';

const httpOf = ({ extensions }: GraphQLError): GraphQLHTTPExtensions | undefined =>
  extensions['http'];

/** An error as a client reads it: what is meant for HTTP is not in it. */
export function formatError(error: GraphQLError): GraphQLFormattedError {
  const { extensions, ...formatted } = error.toJSON();
  const { http: _http, ...others } = extensions ?? {};
  return { ...formatted, extensions: others };
}

/** Errors come first: whoever reads a long answer sees them. */
export function jsonOf({ data, errors, extensions }: ExecutionResult): string {
  return JSON.stringify({ errors: errors?.map(formatError), data, extensions });
}

/** The error, if any, by which HTTP and not GraphQL refuses the request. */
export const httpErrorIn = ({ errors }: ExecutionResult): GraphQLError | undefined =>
  errors?.find((error) => httpOf(error) && !httpOf(error)?.spec);

/** A result as JSON, with the status that Yoga gives it. */
export function jsonResponse(
  result: ExecutionResult,
  { headers: { accept } }: IncomingMessage,
  fetchAPI: FetchAPI,
): Response {
  const { json = 'application/json' } = acceptedBy(accept);
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
  return new fetchAPI.Response(jsonOf(result), { status, headers });
}
