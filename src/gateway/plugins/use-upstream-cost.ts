import { randomUUID } from 'node:crypto';

import { type ExecutionArgs, validateExecutionArgs } from 'graphql';

import { documentRejected, operationRejected } from '../client-error.ts';
import { type ArgumentProblem, estimateCalls } from '../../schema/selections.ts';
import type { ExecutionContext, GatewayContext, GatewayParts, GatewayPlugin } from '../gateway.ts';
import { acceptedBy } from '../request.ts';
import { MAX_REPORTED_ERRORS, firstErrors, variableMessage } from './use-document-limits.ts';

/**
 * Coerces the variables, estimates the upstream calls and puts the `Operation` into the context, or rejects it
 * (`onExecute`, `onSubscribe`). Reports what the operation has used in `extensions.upstream`.
 */
export function useUpstreamCost({ config }: GatewayParts): GatewayPlugin {
  const { maxEstimatedCalls } = config.operation;

  /** Returns why the operation is rejected, if it is. */
  function prepare(args: ExecutionArgs, context: GatewayContext) {
    const startedAt = performance.now();
    const validated = validateExecutionArgs({
      ...args,
      hideSuggestions: true,
      options: { maxCoercionErrors: MAX_REPORTED_ERRORS },
    });
    if (!('schema' in validated))
      return firstErrors(validated).map((error) => documentRejected(error, variableMessage(error)));
    const { calls, problems } = estimateCalls(validated, context.viewer!.reach);
    if (problems.length > 0) return firstErrors(problems).map(argumentsRejected);
    if (calls > maxEstimatedCalls) return [tooExpensive(calls, maxEstimatedCalls)];
    context.operation = {
      id: randomUUID(),
      kind: validated.operation.operation,
      name: context.operationName ?? 'anonymous',
      estimated: calls,
      args: validated,
      startedAt,
      isPlainHttp: context.res !== undefined && acceptedBy(context.res.req).jsonType !== undefined,
    };
    return undefined;
  }

  return {
    onExecute({ args, context, setResultAndStopExecution }) {
      const errors = prepare(args, context);
      if (errors) return setResultAndStopExecution({ errors });
      return {
        onExecuteDone({ result, setResult }) {
          const { operation, resolverContext } = context as ExecutionContext;
          const { calls, cached, coalesced, retried } = resolverContext.usage;
          const upstream = { estimated: operation.estimated, calls, cached, coalesced, retried };
          setResult({ data: null, ...result, extensions: { upstream } });
        },
      };
    },
    onSubscribe({ args, context, setResultAndStopExecution }) {
      const errors = prepare(args, context);
      if (errors) setResultAndStopExecution({ errors });
    },
  };
}

const argumentsRejected = ({ issues, nodes, path }: ArgumentProblem) =>
  operationRejected('BAD_USER_INPUT', issues.join('; '), { nodes, path, extensions: { issues } });

const tooExpensive = (estimate: number, limit: number) =>
  operationRejected(
    'QUERY_TOO_EXPENSIVE',
    `In the worst case this operation takes ${estimate} calls to the Partner API, and at most ${limit} are allowed: ask for fewer rows.`,
    { extensions: { estimate, limit } },
  );
