import {
  type FieldNode,
  Kind,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  visit,
} from 'graphql';

/**
 * The operation's name and variables as a text that is the same for all subscriptions with the same results: where one
 * resumes from is not in it.
 */
export function sharedVariables(args: ValidatedExecutionArgs): string {
  const { operation, rawVariableValues = {} } = args;
  const resumedBy = firstField(operation.selectionSet, args)?.arguments?.find(
    ({ name }) => name.value === 'after',
  )?.value;
  const left =
    resumedBy?.kind === Kind.VARIABLE && usesOf(resumedBy.name.value, args) === 1
      ? resumedBy.name.value
      : undefined;
  const shared = Object.entries(rawVariableValues ?? {})
    .filter(([name]) => name !== left)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([operation.name?.value, shared]);
}

/** Validation has seen to it that there is one only, perhaps in fragments, perhaps several times. */
function firstField(set: SelectionSetNode, args: ValidatedExecutionArgs): FieldNode | undefined {
  const [first] = set.selections;
  if (!first || first.kind === Kind.FIELD) return first;
  const fragment =
    first.kind === Kind.INLINE_FRAGMENT ? first : args.fragmentDefinitions[first.name.value];
  return fragment && firstField(fragment.selectionSet, args);
}

function usesOf(variable: string, { document }: ValidatedExecutionArgs): number {
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void (uses += name.value === variable ? 1 : 0),
  });
  return uses;
}
