import { type ExecutionResult, GraphQLError, type GraphQLErrorOptions } from 'graphql';
import type { GraphQLHTTPExtensions } from 'graphql-yoga';

/** An error whose message was written for clients to read. Everything else is masked. */
export class ClientError extends GraphQLError {
  /** With `spec` in `http`, clients that accept `application/json` get the error with status 200. */
  constructor(
    code: string,
    message: string,
    { extensions, ...options }: GraphQLErrorOptions = {},
    http?: GraphQLHTTPExtensions,
  ) {
    super(message, { ...options, extensions: { ...extensions, code, ...(http && { http }) } });
  }
}

/** The operation is invalid or over a limit, and is not executed. */
export const operationRejected = (code: string, message: string, options?: GraphQLErrorOptions) =>
  new ClientError(code, message, options, { status: 400, spec: true });

export const retryLater = (seconds = 5) => ({ 'retry-after': String(seconds) });
const STATUS_HEADERS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: 'POST' },
  429: retryLater(),
  503: retryLater(),
};

/** The HTTP request is invalid, whatever its operation. */
export const requestRejected = (status: number, message: string, code = 'BAD_USER_INPUT') =>
  new ClientError(code, message, {}, { status, headers: STATUS_HEADERS[status] ?? {} });

/** An error of graphql's parser or validation. The message may hold names, which may be very long, but no values. */
export const documentRejected = ({ source, positions }: GraphQLError, message: string) =>
  operationRejected('BAD_USER_INPUT', message.slice(0, 300), { source, positions });

/** A result as it is sent to a client. Its errors have the request's id, and come first, so that they are noticed. */
export function forClient(result: ExecutionResult, requestId?: string): ExecutionResult {
  const { errors, ...rest } = result;
  if (!errors) return result;
  const formatted = errors.map(({ message, nodes, source, positions, path, extensions: all }) => {
    const { http: _http, ...extensions } = { ...all, requestId };
    return new GraphQLError(message, { nodes, source, positions, path, extensions });
  });
  return { errors: formatted, ...rest };
}
