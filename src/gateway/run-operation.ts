import { type ExecutionResult, getOperationAST } from 'graphql';

import { MAX_LEVELS, isNestedTooDeep, isObject } from '../json.ts';
import { operationRejected, requestRejected } from './client-error.ts';
import type { GatewayContext, GatewayParts, GatewayYoga } from './gateway.ts';
import type { Subscription } from './subscriptions/subscriptions.ts';

export const SHORT_OF_MEMORY = requestRejected(
  503,
  'This gateway is short of memory. Try again in a moment.',
  'UPSTREAM_UNAVAILABLE',
);
export const UNREAD_RESPONSES = requestRejected(
  429,
  'You have not read the responses to your earlier requests: read them first.',
);

/** Parses, validates, builds the context and executes through the plugins, as Yoga does after its Fetch layer. */
export async function runOperation(
  { getEnveloped }: GatewayYoga,
  { runningContexts: running, isShortOfMemory, connections: { unread } }: GatewayParts,
  context: GatewayContext,
  params: ReturnType<typeof paramsFrom>,
): Promise<ExecutionResult | Subscription> {
  if (isShortOfMemory()) throw SHORT_OF_MEMORY;
  const enveloped = getEnveloped(Object.assign(context, { params }));
  const { schema } = enveloped;
  const { query, variables: variableValues, operationName } = params;
  const document = enveloped.parse(query);
  const operation = getOperationAST(document, operationName);
  if (operation?.name) context.operationName = nameForLogs(operation.name.value);
  const errors = enveloped.validate(schema, document);
  if (errors.length > 0) return { errors };
  if (!operation) throw operationRejected('BAD_USER_INPUT', NO_OPERATION);
  // A mutation's outcome is always sent, so the limit is checked before it is executed.
  if (operation.operation === 'mutation' && unread.isReached(context.viewer!.subject))
    throw UNREAD_RESPONSES;
  const isSubscription = operation.operation === 'subscription';
  running.push(context);
  try {
    const contextValue = (await enveloped.contextFactory()) as GatewayContext;
    const args = { schema, document, contextValue, variableValues, operationName };
    return await (isSubscription ? enveloped.subscribe(args) : enveloped.execute(args));
  } finally {
    running.splice(running.indexOf(context), 1);
  }
}

/** For logs, metrics and traces. A name may be as long as the document. */
const nameForLogs = (name: string): string => (/^\w{1,64}$/.test(name) ? name : '[withheld]');

const NO_OPERATION =
  'A document must hold one operation, or "operationName" must be the name of one that it holds.';

export function parseParams(text: string, documentOf: GatewayParts['documentOf']) {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('The body must be valid JSON.');
  }
  return paramsFrom(json, documentOf);
}

/** For all transports. Only known names are read, so that nothing else (`__proto__` included) has an effect. */
export function paramsFrom(body: unknown, documentOf: GatewayParts['documentOf']) {
  if (Array.isArray(body))
    throw invalid('Batching is not supported: send one operation a request.');
  if (!isObject(body)) throw invalid('The body must be a JSON object with a "query".');
  const query = documentOf(body);
  const variables = body['variables'] ?? {};
  const operationName = body['operationName'] ?? undefined;
  if (!isObject(variables)) throw invalid('"variables" must be an object.');
  if (!isObject(body['extensions'] ?? {})) throw invalid('"extensions" must be an object.');
  if (isNestedTooDeep(variables))
    throw invalid(
      `"variables" may be nested at most ${MAX_LEVELS} levels deep, and these are deeper.`,
    );
  if (operationName !== undefined && typeof operationName !== 'string')
    throw invalid('"operationName" must be a string.');
  return { query, variables, operationName };
}

const invalid = (message: string) => requestRejected(400, message);
