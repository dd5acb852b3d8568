import {
  type FieldNode,
  type GraphQLField,
  Kind,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  getArgumentValues,
  visit,
} from 'graphql';

import type { GlobalIds } from '../schema/global-id.ts';
import type { EventFilter } from '../events/filter.ts';
import type { EventType } from '../events/partner-event.ts';

/** What one subscription wants to hear, read from its root field. */
export interface Wanted {
  readonly filter: EventFilter;
  readonly after: string | undefined;
  /** The same for all who would get the same payloads: where they resume from is not in it. */
  readonly key: string;
}

/** As `extensions` of a subscription field. */
export interface Hears {
  readonly hears: {
    readonly types: readonly EventType[] | undefined;
    /** The schema's input as the events' own filter; throws for ids that are none. */
    readonly filterOf: (input: unknown, ids: GlobalIds) => EventFilter;
  };
}

export function wantedBy(args: ValidatedExecutionArgs, ids: GlobalIds): Wanted {
  const { schema, operation, variableValues, rawVariableValues } = args;
  const node = firstField(operation.selectionSet, args);
  const root = schema.getSubscriptionType();
  if (!node || !root) throw new TypeError('A subscription selects one field.');
  const field = root.getFields()[node.name.value] as GraphQLField<unknown, unknown>;
  const { hears } = field.extensions as unknown as Hears;
  const { filter, after } = getArgumentValues(field, node, variableValues);
  const resumedBy = node.arguments?.find(({ name }) => name.value === 'after')?.value;
  const resumeVariable = resumedBy?.kind === Kind.VARIABLE ? resumedBy.name.value : undefined;
  const shared =
    resumeVariable && usesOf(resumeVariable, args) === 1
      ? without(resumeVariable, rawVariableValues ?? {})
      : (rawVariableValues ?? {});
  return {
    filter: withTypes(hears.filterOf(filter, ids), hears.types),
    after: typeof after === 'string' ? after : undefined,
    key: JSON.stringify([operation.name?.value, sorted(shared)]),
  };
}

/** Validation has seen to it that there is one only, perhaps in fragments, perhaps several times. */
function firstField(set: SelectionSetNode, args: ValidatedExecutionArgs): FieldNode | undefined {
  const [first] = set.selections;
  if (!first || first.kind === Kind.FIELD) return first;
  const fragment =
    first.kind === Kind.INLINE_FRAGMENT ? first : args.fragmentDefinitions[first.name.value];
  return fragment && firstField(fragment.selectionSet, args);
}

function withTypes(filter: EventFilter, types: readonly EventType[] | undefined): EventFilter {
  if (!types) return filter;
  const both = filter.types ? types.filter((type) => filter.types?.includes(type)) : types;
  return { ...filter, types: both };
}

function usesOf(variable: string, { document }: ValidatedExecutionArgs): number {
  let uses = 0;
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void (uses += name.value === variable ? 1 : 0),
  });
  return uses;
}

const without = (name: string, { [name]: _left, ...others }: Readonly<Record<string, unknown>>) =>
  others;

const sorted = (variables: Readonly<Record<string, unknown>>) =>
  Object.entries(variables).toSorted(([a], [b]) => (a < b ? -1 : 1));
