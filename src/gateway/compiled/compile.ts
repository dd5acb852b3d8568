import {
  type DocumentNode,
  Kind,
  OperationTypeNode,
  type ValidatedExecutionArgs,
  visit,
  BREAK,
} from 'graphql';

import { type ObjectPlan, planOfObject } from './plan.ts';

const compiled = new WeakMap<DocumentNode, Map<string, ObjectPlan | undefined>>();

/** The operation's plan, made once a document; undefined for what is better left to graphql's own executor. */
export function planOf(args: ValidatedExecutionArgs): ObjectPlan | undefined {
  const { document, operation } = args;
  const plans = compiled.get(document) ?? new Map<string, ObjectPlan | undefined>();
  compiled.set(document, plans);
  const name = operation.name?.value ?? '';
  if (plans.has(name)) return plans.get(name);
  const plan = isPlain(args) ? compile(args) : undefined;
  plans.set(name, plan);
  return plan;
}

function compile({ schema, operation, fragmentDefinitions }: ValidatedExecutionArgs) {
  const root = schema.getQueryType();
  const compiler = { schema, fragments: fragmentDefinitions, count: 0 };
  return root ? planOfObject(compiler, root, [operation.selectionSet]) : undefined;
}

/** Mutations run one after another, directives decide at run time, and introspection is not ours: all of that is rare. */
function isPlain({ document, operation }: ValidatedExecutionArgs): boolean {
  if (operation.operation !== OperationTypeNode.QUERY) return false;
  let plain = true;
  const stop = () => {
    plain = false;
    return BREAK;
  };
  visit(document, {
    Directive: stop,
    [Kind.FIELD]: ({ name }) =>
      name.value === '__schema' || name.value === '__type' ? stop() : undefined,
  });
  return plain;
}
