import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  doTypesOverlap,
  getDirectiveValues,
  getNamedType,
  isCompositeType,
} from 'graphql';

import type { Need } from '../connection/window.ts';
import type { Context } from '../context.ts';
import type { ListedRef } from '../resolvers/refs.ts';

/** A field as it is executed, however often the document selects it. */
export interface CollectedField {
  readonly field: GraphQLField<unknown, unknown>;
  /** More than one where selections are merged. On types that exclude each other their arguments may differ. */
  readonly nodes: FieldNode[];
}

type Operation = Context['executionArgs'];

/**
 * The fields that the nodes select on a type, merged as the executor merges them. Each fragment is visited once:
 * expanded, a few hundred tokens of fragments can be exponentially many fields. On an interface, fragments on types that
 * exclude each other are all included, since any of them may apply.
 */
export function collectFields(
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  type: GraphQLNamedType | null | undefined,
  { schema, fragmentDefinitions, variableValues }: Operation,
): readonly CollectedField[] {
  if (!isCompositeType(type)) return [];
  const collected = new Map<string, CollectedField>();
  const visited = new Set<string>();

  function collect(set: SelectionSetNode, owner: GraphQLCompositeType): void {
    for (const selection of set.selections) {
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === Kind.FIELD) add(selection, owner);
      else if (selection.kind === Kind.INLINE_FRAGMENT) enter(selection, owner);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        enter(fragmentDefinitions[selection.name.value], owner);
      }
    }
  }

  const enter = (fragment: Fragment | undefined, owner: GraphQLCompositeType): void => {
    if (!fragment) return;
    const { typeCondition, selectionSet } = fragment;
    const narrowed = (typeCondition && schema.getType(typeCondition.name.value)) ?? owner;
    if (isCompositeType(narrowed) && doTypesOverlap(schema, type, narrowed))
      collect(selectionSet, narrowed);
  };

  function add(node: FieldNode, owner: GraphQLCompositeType): void {
    const field = schema.getField(owner, node.name.value);
    if (!field) return;
    const name = node.alias?.value ?? node.name.value;
    // Two types may define different arguments for fields of one name.
    const { name: typeName } = field.args.length > 0 ? owner : getNamedType(field.type);
    const key = `${name} ${field.name} ${typeName}`;
    const known = collected.get(key);
    if (known) known.nodes.push(node);
    else collected.set(key, { field, nodes: [node] });
  }

  for (const { selectionSet } of nodes) if (selectionSet) collect(selectionSet, type);
  return [...collected.values()];
}

type Fragment = {
  readonly typeCondition?: { readonly name: { readonly value: string } } | undefined;
  readonly selectionSet: SelectionSetNode;
};

function isIncluded(
  selection: SelectionNode,
  variableValues: Operation['variableValues'],
): boolean {
  if (!selection.directives?.length) return true;
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] !== false
  );
}

const isId = ({ field }: CollectedField): boolean => field.name === 'id';

/**
 * Whether the selection on this type needs the record's attributes. If so, the record is looked up first. `orId`: also
 * for an `id`, of the record or of one in it, that will include the parent named in the arguments, once a list has
 * confirmed it.
 */
export function wantsAttributes(
  info: GraphQLResolveInfo,
  type: ListedRef['type'],
  { executionArgs: operation }: Context,
  orId = false,
): boolean {
  const hasId = ({ field, nodes }: CollectedField) =>
    collectFields(nodes, getNamedType(field.type), operation).some(isId);
  return collectFields(info.fieldNodes, info.schema.getType(type), operation).some(
    (each) => each.field.extensions['isAttribute'] || (orId && (isId(each) || hasId(each))),
  );
}

/** The names of the subfields that the field being resolved selects, once for each alias. */
export const selectedSubfields = (
  info: GraphQLResolveInfo,
  { executionArgs }: Context,
): readonly string[] =>
  collectFields(info.fieldNodes, getNamedType(info.returnType), executionArgs).map(
    ({ field }) => field.name,
  );

/** What the connection that is being resolved has to read. */
export function connectionNeed(info: GraphQLResolveInfo, { executionArgs }: Context): Need {
  const subfields = collectFields(info.fieldNodes, getNamedType(info.returnType), executionArgs);
  return needOf(subfields, executionArgs);
}

/** What the selected subfields of a connection need: it decides which pages are read. */
export function needOf(subfields: readonly CollectedField[], operation: Operation): Need {
  const names = new Set(subfields.map(({ field }) => field.name));
  for (const { field, nodes } of subfields) {
    if (field.name !== 'pageInfo') continue;
    const inner = collectFields(nodes, getNamedType(field.type), operation);
    for (const each of inner) names.add(each.field.name);
  }
  const has = (...any: readonly string[]) => any.some((name) => names.has(name));
  if (has('edges', 'nodes')) return 'rows';
  if (has('startCursor', 'endCursor')) return 'cursors';
  if (has('hasNextPage', 'hasPreviousPage')) return 'offsets';
  return has('totalCount') ? 'total' : 'nothing';
}
