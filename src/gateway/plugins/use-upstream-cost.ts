import {
  type ExecutionArgs,
  type ExecutionResult,
  OperationTypeNode,
  validateExecutionArgs,
} from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';

import type { CursorCodec } from '../../connection/cursor.ts';
import type { Usage } from '../../rest/usage.ts';
import { reachOf } from '../../viewer/reach.ts';
import { ClientError, documentRejected, operationRejected } from '../client-error.ts';
import { type ExecutionContext, type GatewayContext, nextOperationId } from '../context.ts';
import type { Operation } from '../context.ts';
import { estimateCalls } from '../../schema/cost/estimate.ts';
import type { GatewayPlugin } from '../yoga.ts';

export interface CostOptions {
  readonly cursors: CursorCodec;
  readonly maxEstimatedCalls: number;
  readonly maxUpstreamCalls: number;
  readonly onRejected: (code: string) => void;
}

/**
 * Rejects operations whose variables are wrong, or whose worst case in upstream calls is over the limit (`onExecute`,
 * `onSubscribe`). Tells what each one has cost in `extensions.upstream`.
 */
export function useUpstreamCost(options: CostOptions): GatewayPlugin {
  const { maxUpstreamCalls, onRejected } = options;

  function prepare(args: ExecutionArgs): readonly ClientError[] | undefined {
    const context = args.contextValue as GatewayContext;
    const operation = operationOf(args, context, options);
    if ('kind' in operation) context.operation = operation;
    else {
      onRejected(String(operation[0]?.extensions['code']));
      return operation;
    }
    return undefined;
  }

  return {
    onExecute({ args, setResultAndStopExecution }) {
      const errors = prepare(args);
      if (errors) {
        setResultAndStopExecution({ errors });
        return;
      }
      return {
        onExecuteDone({ args: { contextValue }, result, setResult }) {
          if (isAsyncIterable(result)) return;
          const { operation, usage } = contextValue as ExecutionContext;
          const { data = null, errors: failed } = result;
          const extensions = { upstream: upstreamReport(operation, usage) };
          setResult({
            ...(failed && {
              errors: mergeCutErrors(failed, operation.estimated, maxUpstreamCalls),
            }),
            data,
            extensions,
          });
        },
      };
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const errors = prepare(args);
      if (errors) setResultAndStopExecution({ errors });
    },
  };
}

/** As `extensions.upstream` tells it. */
export function upstreamReport({ estimated }: Pick<Operation, 'estimated'>, usage: Usage) {
  const { calls, cached, coalesced, retried } = usage;
  return { estimated, calls, cached, coalesced, retried };
}

function operationOf(
  args: ExecutionArgs,
  { requester }: GatewayContext,
  { cursors, maxEstimatedCalls }: CostOptions,
): Operation | readonly ClientError[] {
  const startedAt = performance.now();
  const validated = validateExecutionArgs({ ...args, hideSuggestions: true });
  if (!('schema' in validated)) return validated.slice(0, SHOWN_ERRORS).map(documentRejected);
  const { calls, issues } = estimateCalls(validated, reachOf(requester!), cursors);
  if (issues.length > 0) {
    return [operationRejected('BAD_USER_INPUT', issues.join('; '), { extensions: { issues } })];
  }
  if (calls > maxEstimatedCalls) return [tooExpensive(calls, maxEstimatedCalls)];
  const { operation, name } = validated.operation;
  return {
    id: nextOperationId(),
    kind: KINDS[operation],
    name: name?.value,
    estimated: calls,
    args: validated,
    startedAt,
  };
}

const SHOWN_ERRORS = 5;

const KINDS: Record<OperationTypeNode, Operation['kind']> = {
  [OperationTypeNode.QUERY]: 'query',
  [OperationTypeNode.MUTATION]: 'mutation',
  [OperationTypeNode.SUBSCRIPTION]: 'subscription',
};

const tooExpensive = (estimate: number, limit: number) =>
  operationRejected(
    'QUERY_TOO_EXPENSIVE',
    `In the worst case this operation takes ${estimate} calls to the Partner API, and at most ${limit} are allowed: ask for fewer rows.`,
    { extensions: { estimate, limit } },
  );

type Errors = NonNullable<ExecutionResult['errors']>;

/** Where calls ran out: one error for each position, the path without its list indices, and not one for each row. */
export function mergeCutErrors(errors: Errors, estimate: number, limit: number): Errors {
  const positionOf = ({ extensions, path }: Errors[number]): string | undefined =>
    extensions['code'] === 'QUERY_TOO_EXPENSIVE'
      ? path?.filter((key) => typeof key === 'string').join('.')
      : undefined;
  const byPosition = Map.groupBy(errors, positionOf);
  return errors.flatMap((error) => {
    const position = positionOf(error);
    const cut = byPosition.get(position) ?? [];
    if (position === undefined) return [error];
    return cut[0] === error ? [cutError(cut, estimate, limit)] : [];
  });
}

function cutError(cut: Errors, estimate: number, limit: number): ClientError {
  const { nodes, path } = cut[0]!;
  const message = `At most ${limit} calls to the Partner API are made for one operation, and none was left here: ask for fewer rows.`;
  const extensions = { count: cut.length, path, estimate, limit };
  return new ClientError('QUERY_TOO_EXPENSIVE', message, { nodes, path, extensions });
}
