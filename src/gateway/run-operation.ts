import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql';
import type { YogaServer } from 'graphql-yoga';

import { operationRejected } from './client-error.ts';
import type { GatewayContext } from './context.ts';
import type { OperationParams } from './request.ts';

export type Enveloped = ReturnType<YogaServer<GatewayContext, GatewayContext>['getEnveloped']>;

export interface ExecutableOperation {
  readonly schema: Enveloped['schema'];
  readonly document: DocumentNode;
  readonly contextValue: unknown;
  readonly variableValues: OperationParams['variables'];
  readonly operationName: string | undefined;
}

/** Parses, validates and builds the context, through the plugins. Throws the first error, or returns them all. */
export async function prepareOperation(
  { parse, validate, schema, contextFactory }: Enveloped,
  { query, variables, operationName }: OperationParams,
): Promise<ExecutableOperation | Pick<ExecutionResult, 'errors'>> {
  const document = parse(query);
  const errors = validate(schema, document);
  if (errors.length > 0) return { errors };
  const contextValue = await contextFactory();
  return { schema, document, contextValue, variableValues: variables, operationName };
}

/** As Yoga does for a request, for transports that don't go through its Fetch layer. */
export async function runOperation(
  enveloped: Enveloped,
  params: OperationParams,
): Promise<ExecutionResult | AsyncIterable<ExecutionResult>> {
  const prepared = await prepareOperation(enveloped, params);
  if (!('document' in prepared)) return prepared;
  return isSubscription(prepared) ? enveloped.subscribe(prepared) : enveloped.execute(prepared);
}

export function isSubscription({ document, operationName }: ExecutableOperation): boolean {
  const operation = getOperationAST(document, operationName);
  if (operation) return operation.operation === 'subscription';
  throw operationRejected('BAD_USER_INPUT', NO_OPERATION);
}

export const NO_OPERATION =
  'A document must hold one operation, or "operationName" must be the name of one that it holds.';
