import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  getDirectiveValues,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

/** What is executed as one field, however often the document selects it. */
export interface GatheredField {
  readonly field: GraphQLField<unknown, unknown>;
  /** More than one where selections are merged. On types that exclude each other their arguments may differ. */
  readonly nodes: readonly FieldNode[];
}

/**
 * The fields that are selected on a type, merged as the executor merges them. Each fragment is visited once:
 * expanded, a few hundred tokens of fragments can be exponentially many fields. Fragments on types that exclude each
 * other are all included, since any of them may apply.
 */
export function gatherFields(
  sets: readonly SelectionSetNode[],
  type: GraphQLCompositeType,
  validated: ValidatedExecutionArgs,
): readonly GatheredField[] {
  const gathered = new Map<string, { field: GatheredField['field']; nodes: FieldNode[] }>();
  const spread = new Set<string>();

  function gather(set: SelectionSetNode, owner: GraphQLCompositeType): void {
    for (const selection of set.selections) {
      if (!isIncluded(selection, validated)) continue;
      if (selection.kind === Kind.FIELD) add(selection, owner);
      else if (selection.kind === Kind.INLINE_FRAGMENT) enter(selection, owner);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        enter(validated.fragmentDefinitions[selection.name.value], owner);
      }
    }
  }

  function enter(fragment: Fragment | undefined, owner: GraphQLCompositeType): void {
    if (!fragment) return;
    const { typeCondition, selectionSet } = fragment;
    const narrowed = typeCondition && validated.schema.getType(typeCondition.name.value);
    gather(selectionSet, isCompositeType(narrowed) ? narrowed : owner);
  }

  function add(node: FieldNode, owner: GraphQLCompositeType): void {
    const field = fieldOf(owner, node);
    if (!field) return;
    const name = node.alias?.value ?? node.name.value;
    const key = `${name} ${field.name} ${getNamedType(field.type).name}`;
    const known = gathered.get(key);
    if (known) known.nodes.push(node);
    else gathered.set(key, { field, nodes: [node] });
  }

  for (const set of sets) gather(set, type);
  return [...gathered.values()];
}

export type Fragment = {
  readonly typeCondition?: { readonly name: { readonly value: string } } | undefined;
  readonly selectionSet: SelectionSetNode;
};

/** As the directives `skip` and `include` say. */
export function isIncluded(
  selection: SelectionNode,
  { variableValues }: Pick<ValidatedExecutionArgs, 'variableValues'>,
): boolean {
  if (!selection.directives?.length) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] !== false
  );
}

/** Undefined for `__typename` and its like, which cost nothing. */
function fieldOf(owner: GraphQLCompositeType, node: FieldNode) {
  return isObjectType(owner) || isInterfaceType(owner)
    ? owner.getFields()[node.name.value]
    : undefined;
}
