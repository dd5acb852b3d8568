import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLNamedType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  executeRootSelectionSet,
  getNamedType,
  isInputObjectType,
  typeFromAST,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';

import type { ExecutionContext } from '../context.ts';
import type { GatewayPlugin } from '../yoga.ts';

type Result = ExecutionResult | Promise<ExecutionResult>;

/** graphql-jit copies a fragment to each place where it is spread, so the code grows with this count. */
const MAX_SELECTIONS = 2_000;
const MAX_COMPILED_SELECTIONS = 20_000;
const MAX_COMPILED = 200;

/**
 * Executes queries by graphql-jit from their second use on, and everything else by graphql-js (`onExecute`), on the
 * arguments that were validated for the estimate. CPU a request, graphql-js = 1: executed W1 0.82, executed W2S 0.61.
 */
export function useExecution(): GatewayPlugin {
  const execute = createExecutor();
  const executeValidated = ({ contextValue }: ExecutionArgs) =>
    execute((contextValue as ExecutionContext).operation.args);
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(executeValidated),
  };
}

export function createExecutor(): (args: ValidatedExecutionArgs) => Result {
  const usedBefore = new WeakSet<OperationDefinitionNode>();
  const compiled = new LRUCache<OperationDefinitionNode, CompiledQuery>({
    max: MAX_COMPILED,
    maxSize: MAX_COMPILED_SELECTIONS,
  });

  function compile(args: ValidatedExecutionArgs): CompiledQuery | undefined {
    const { schema, document, operation } = args;
    const isRepeated = usedBefore.has(operation);
    usedBefore.add(operation);
    if (!isRepeated || !isCompilable(args)) return undefined;
    const size = countSelections(args);
    if (size > MAX_SELECTIONS) return undefined;
    const query = compileQuery(schema, document, operation.name?.value ?? '', {
      disablingCapturingStackErrors: true,
      useExperimentalPathBasedSkipInclude: true,
    });
    if (!isCompiledQuery(query)) return undefined;
    compiled.set(operation, query, { size: 1 + size });
    return query;
  }

  return (args) => {
    const query = compiled.get(args.operation) ?? compile(args);
    // Without a stream in it: incremental delivery is not in the schema.
    if (!query) return executeRootSelectionSet(args);
    const { rootValue, contextValue, rawVariableValues, document } = args;
    const result: Result = query.query(rootValue, contextValue, rawVariableValues ?? {});
    return result instanceof Promise
      ? result.then((settled) => withPositions(settled, document))
      : withPositions(result, document);
  };
}

/**
 * Mutations are rare and wait for the Partner API. graphql-jit drops keys named `__proto__` from JSON values, and hands
 * resolvers the bare variables where graphql-js hands them an object with `coerced` in it: see `look-ahead.ts`.
 */
function isCompilable({ schema, document, operation }: ValidatedExecutionArgs): boolean {
  if (operation.operation !== 'query' || document.loc?.source.body.includes('__proto__'))
    return false;
  return (operation.variableDefinitions ?? []).every(({ variable, type, defaultValue }) => {
    // It rejects the operation where such a variable is left to its default.
    if (defaultValue && type.kind === Kind.NON_NULL_TYPE) return false;
    const input = typeFromAST(schema, type);
    return variable.name.value !== 'coerced' && !(input && holdsJson(getNamedType(input)));
  });
}

function holdsJson(type: GraphQLNamedType, seen = new Set<GraphQLNamedType>()): boolean {
  if (type.name === 'JSON') return true;
  if (!isInputObjectType(type) || seen.has(type)) return false;
  seen.add(type);
  return Object.values(type.getFields()).some((field) => holdsJson(getNamedType(field.type), seen));
}

/**
 * How many selections there are with the fragments written out. Each fragment is counted once and multiplied: writing
 * them out could take for ever. Infinity where a condition stands on selections that may be merged with others:
 * graphql-jit would return fields that the condition leaves out.
 */
function countSelections({ operation, fragmentDefinitions }: ValidatedExecutionArgs): number {
  const counts = new Map<string, number>();
  let hasConditions = false;
  let hasMerges = false;

  function ofFragment(name: string): number {
    const count = counts.get(name) ?? ofSet(fragmentDefinitions[name]?.selectionSet);
    counts.set(name, count);
    return count;
  }

  function ofSet(set: SelectionSetNode | undefined): number {
    const keys = new Set<string>();
    let count = 0;
    for (const selection of set?.selections ?? []) {
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const isLeaf = selection.kind === Kind.FIELD && !selection.selectionSet;
      const key = selection.kind === Kind.FIELD && (selection.alias ?? selection.name).value;
      hasConditions ||= !isLeaf && Boolean(selection.directives?.length);
      hasMerges ||= !key || keys.has(key);
      if (key) keys.add(key);
      count += 1 + (isSpread ? ofFragment(selection.name.value) : ofSet(selection.selectionSet));
    }
    return count;
  }

  const count = ofSet(operation.selectionSet);
  return hasConditions && hasMerges ? Number.POSITIVE_INFINITY : count;
}

/** graphql-jit's errors have lines and columns, but no nodes: errors are put in order, and located, by position. */
function withPositions(result: ExecutionResult, { loc }: DocumentNode): ExecutionResult {
  if (!result.errors || !loc) return result;
  const { source } = loc;
  const lines = source.body.split(/\r\n|[\n\r]/g);
  const starts: number[] = [];
  for (let at = 0, i = 0; i < lines.length; i += 1) {
    starts.push(at);
    at += lines[i]!.length;
    at += source.body.startsWith('\r\n', at) ? 2 : 1;
  }
  const errors = result.errors.map(({ message, locations, path, originalError }) => {
    const positions = locations?.map(({ line, column }) => starts[line - 1]! + column - 1);
    return new GraphQLError(message, { source, positions, path, originalError });
  });
  return { ...result, errors };
}
