import { GraphQLError, type GraphQLErrorOptions } from 'graphql';

/** How HTTP tells of an error. Yoga reads it from `extensions.http`, and takes it out before a client sees it. */
interface HttpExtension {
  readonly status: number;
  /** An error of GraphQL, not of HTTP: clients that ask for `application/json` get it with status 200. */
  readonly spec?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error whose message was written for clients to read. Everything else is masked. */
export class ClientError extends GraphQLError {
  constructor(
    code: string,
    message: string,
    { extensions, ...options }: GraphQLErrorOptions = {},
    http?: HttpExtension,
  ) {
    super(message, { ...options, extensions: { ...extensions, code, ...(http && { http }) } });
  }
}

/** The operation is wrong, or more than is allowed: it is not executed. */
export const operationRejected = (code: string, message: string, options?: GraphQLErrorOptions) =>
  new ClientError(code, message, options, { status: 400, spec: true });

/** The HTTP request is wrong, whatever operation is in it. */
export const requestRejected = (
  status: number,
  message: string,
  code = 'BAD_USER_INPUT',
  headers?: Readonly<Record<string, string>>,
) => new ClientError(code, message, {}, { status, ...(headers && { headers }) });

/** A name in a document may be as long as the document. */
const LONGEST_MESSAGE = 300;

/** An error of graphql's parser or validation, in its own words: they hold names, and no values. */
export const documentRejected = ({ message, source, positions }: GraphQLError) =>
  operationRejected('BAD_USER_INPUT', message.slice(0, LONGEST_MESSAGE), { source, positions });
