import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLResolveInfo,
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

type Fragment = {
  readonly typeCondition?: { readonly name: { readonly value: string } } | undefined;
  readonly selectionSet: SelectionSetNode;
};

/** As the directives `skip` and `include` say. */
function isIncluded(
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

type Info = Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'variableValues'>;

/** Fields that come from the record's row in a list. Its id, its lists and the links to its parents need no look-up. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'name',
  'raw',
  'firstName',
  'lastName',
  'email',
  'externalId',
  'phoneNumber',
  'dateOfBirth',
  'status',
  'sessionExternalId',
  'fileUrl',
]);

/** Whether the selection on this type needs the record's attributes. If so, the record is looked up first. */
export const wantsAttributes = (info: Info, type: string): boolean =>
  selects(info, type, (name) => ATTRIBUTES.has(name));

/** The same, for an `id` that will include the parent named in the arguments, once a list has confirmed it. */
export const wantsAttributesOrId = (info: Info, type: string): boolean =>
  selects(info, type, (name) => name === 'id' || ATTRIBUTES.has(name));

function selects(info: Info, type: string, isWanted: (field: string) => boolean): boolean {
  const seen = new Set<string>();

  const inSet = (set: SelectionSetNode | undefined): boolean =>
    set?.selections.some((selection) => isIncluded(selection, info) && inSelection(selection)) ??
    false;

  const inSelection = (selection: SelectionNode): boolean => {
    if (selection.kind === Kind.FIELD) return isWanted(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return inFragment(selection);
    if (seen.has(selection.name.value)) return false;
    seen.add(selection.name.value);
    const fragment = info.fragments[selection.name.value];
    return fragment !== undefined && inFragment(fragment);
  };

  const inFragment = ({ typeCondition, selectionSet }: Fragment): boolean => {
    const condition = typeCondition?.name.value;
    const applies = condition === undefined || condition === type || condition === 'Node';
    return applies && inSet(selectionSet);
  };

  return info.fieldNodes.some(({ selectionSet }: FieldNode) => inSet(selectionSet));
}
