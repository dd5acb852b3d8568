import { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';

import type { ExecutionResult, FieldNode, SourceLocation, ValidatedExecutionArgs } from 'graphql';
import {
  GraphQLError,
  Kind,
  TypeInfo,
  executeRootSelectionSet,
  getNamedType,
  isAbstractType,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type * as Jit from 'graphql-jit';
import { LRUCache } from 'lru-cache';

import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.ts';
import type { ExecutionContext, GatewayPlugin } from '../gateway.ts';
import { createShapeOf } from './use-document-limits.ts';

// Otherwise V8 keeps the source of each compiled document, some 2 KB a selection, until it has not been used for several
// full garbage collections: 5,000 different documents took 1.5 GB. The flag is about scripts and `new Function` only.
setFlagsFromString('--no-compilation-cache');

/** Loaded when it is first needed: its hundred modules would take a twentieth of the start, and 7 MB. */
const require = createRequire(import.meta.url);
const loadJit = () => require('graphql-jit') as typeof Jit;

/** Counted with fragments expanded. Compiling blocks the event loop for up to 0.25 ms a selection. */
const MAX_SELECTIONS = 100;

/**
 * Executes with graphql-jit where it is safe, from a document's second use on, and otherwise with graphql-js
 * (`onExecute`). Both get the arguments that were validated for the estimate. graphql-jit takes 0.60 to 0.90 of the CPU
 * that graphql-js takes for a request: see bench/README.md.
 */
export function useExecution(): GatewayPlugin {
  const execute = createExecutor();
  function executeValidated({ contextValue }: { readonly contextValue?: unknown }) {
    const { operation, resolverContext } = contextValue as ExecutionContext;
    return execute({ ...operation.args, contextValue: resolverContext });
  }
  return { onExecute: ({ setExecuteFn }) => setExecuteFn(executeValidated) };
}

/** `maxCompiled` is in selections, in all documents that are kept. A compiled selection takes some 8 KB. */
export function createExecutor(maxCompiled = 2_000) {
  const uses = new WeakMap<object, number>();
  const compiled = new LRUCache<object, Jit.CompiledQuery>({ maxSize: maxCompiled });

  /** Compiles each operation at most once: clients may alternate between more of them than the cache holds. */
  function compileAtSecondUse(args: ValidatedExecutionArgs): Jit.CompiledQuery | undefined {
    const { schema, document, operation } = args;
    const count = (uses.get(operation) ?? 0) + 1;
    uses.set(operation, count);
    if (count !== 2 || !isCompilable(args)) return undefined;
    const { selections } = createShapeOf(document)(operation);
    if (selections > MAX_SELECTIONS) return undefined;
    const { compileQuery, isCompiledQuery } = loadJit();
    const query = compileQuery(schema, document, operation.name?.value ?? '', {
      disablingCapturingStackErrors: true,
      useExperimentalPathBasedSkipInclude: true,
    });
    if (!isCompiledQuery(query)) return undefined;
    // A document takes as much as five selections.
    compiled.set(operation, query, { size: 5 + selections });
    return query;
  }

  return (args: ValidatedExecutionArgs): MaybePromise<ExecutionResult> => {
    const query = compiled.get(args.operation) ?? compileAtSecondUse(args);
    if (!query || hasNullForDefault(args)) return executeRootSelectionSet(args);
    const { rootValue, contextValue, rawVariableValues } = args;
    // graphql-jit would take a variable named `toString` that is left out from `Object.prototype`.
    const variables = Object.assign(Object.create(null), rawVariableValues);
    const result: MaybePromise<ExecutionResult> = query.query(rootValue, contextValue, variables);
    return mapMaybePromise(result, (loaded) => withNodes(loaded, args));
  };
}

/** Whether graphql-jit 0.8.9 executes the document as graphql-js does. Mutations are rare and wait for the Partner API. */
function isCompilable({ schema, document, operation }: ValidatedExecutionArgs): boolean {
  // It writes literals into code, and a string with a certain text becomes JavaScript there: so a document that has a
  // quotation mark is not compiled. It drops keys named `__proto__`, and ignores defaults of introspection's arguments.
  const text = document.loc!.source.body;
  if (operation.operation !== 'query' || /"|__(?!typename\b)/.test(text)) return false;
  const types = new TypeInfo(schema);
  let isUnsafe = false;
  let hasMerges = false;
  const visitor = visitWithTypeInfo(types, {
    // It rejects a required variable that is left to its default.
    VariableDefinition({ defaultValue, type }) {
      isUnsafe ||= defaultValue !== undefined && type.kind === Kind.NON_NULL_TYPE;
    },
    // Each selection below an interface is compiled once for each of its types: nested, exponentially many. Two paths
    // that differ only in where an alias has its `_` get the same `info`.
    Field({ alias }) {
      isUnsafe ||= isAbstractType(getNamedType(types.getType())) || /_/.test(alias?.value ?? '');
    },
    // In an input object, null would replace a variable that is left out. A custom scalar, also a list, would lose it.
    Variable(_node, _key, parent) {
      isUnsafe ||= !/^(Argument|VariableDefinition)$/.test(Object(parent).kind);
    },
    SelectionSet({ selections }) {
      const keys = selections.flatMap((each) =>
        each.kind === Kind.FIELD ? (each.alias ?? each.name).value : [],
      );
      // A fragment counts too, since it may select a field again.
      hasMerges ||= new Set(keys).size < selections.length;
    },
  });
  visit(document, visitor);
  // It applies a condition (`@`) on one of two merged selections to both, or orders the keys differently.
  return !isUnsafe && !(hasMerges && text.includes('@'));
}

/** Where null replaces the default of a variable, a non-null argument can get null: graphql-js reports which one. */
const hasNullForDefault = ({ operation, rawVariableValues }: ValidatedExecutionArgs): boolean =>
  operation.variableDefinitions?.some(
    ({ defaultValue, variable }) =>
      defaultValue && rawVariableValues?.[variable.name.value] === null,
  ) ?? false;

const keyOf = ({ line, column }: SourceLocation): string => `${line}:${column}`;

/** graphql-jit's errors have lines and columns, but no nodes. */
function withNodes(result: ExecutionResult, { document }: ValidatedExecutionArgs): ExecutionResult {
  if (!result.errors) return result;
  const fields = new Map<string, FieldNode>();
  visit(document, {
    Field(node) {
      fields.set(keyOf(node.loc!.startToken), node);
    },
  });
  const errors = result.errors.map(({ message, locations = [], path, originalError }) => {
    const nodes = locations.flatMap((location) => fields.get(keyOf(location)) ?? []);
    return new GraphQLError(message, { nodes, path, originalError });
  });
  return { ...result, errors };
}
