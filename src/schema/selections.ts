import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLType,
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
  returnType: GraphQLType | null | undefined,
  { schema, fragmentDefinitions, variableValues }: Operation,
): readonly CollectedField[] {
  const type = getNamedType(returnType);
  if (!isCompositeType(type)) return [];
  const collected = new Map<string, CollectedField>();
  const visited = new Set<SelectionSetNode>();

  const collect = (set: SelectionSetNode | undefined, owner: GraphQLCompositeType): void => {
    if (!set || visited.has(set)) return;
    visited.add(set);
    for (const selection of set.selections) {
      if (!isIncluded(selection, variableValues)) continue;
      if (selection.kind === Kind.FIELD) {
        add(selection, owner);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const fragment = isSpread ? fragmentDefinitions[selection.name.value] : selection;
      const condition = fragment?.typeCondition?.name.value;
      const narrowed = condition ? schema.getType(condition) : owner;
      if (isCompositeType(narrowed) && doTypesOverlap(schema, type, narrowed)) {
        collect(fragment?.selectionSet, narrowed);
      }
    }
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

  for (const { selectionSet } of nodes) collect(selectionSet, type);
  return [...collected.values()];
}

const isIncluded = (selection: SelectionNode, values: Operation['variableValues']): boolean =>
  !selection.directives?.length ||
  (getDirectiveValues(GraphQLSkipDirective, selection, values)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, values)?.['if'] !== false);

/** The subfields that the field being resolved selects, once for each alias. */
export const selectedSubfields = (info: GraphQLResolveInfo, { executionArgs }: Context) =>
  collectFields(info.fieldNodes, info.returnType, executionArgs);

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
    collectFields(nodes, field.type, operation).some(isId);
  return collectFields(info.fieldNodes, info.schema.getType(type), operation).some(
    (each) => each.field.extensions['isAttribute'] || (orId && (isId(each) || hasId(each))),
  );
}

/** What the connection that is being resolved has to read. */
export const connectionNeed = (info: GraphQLResolveInfo, ctx: Context): Need =>
  needOf(selectedSubfields(info, ctx), ctx.executionArgs);

/** What the selected subfields of a connection need: it decides which pages are read. */
export function needOf(subfields: readonly CollectedField[], operation: Operation): Need {
  const fields = subfields.flatMap((each) =>
    each.field.name === 'pageInfo' ? collectFields(each.nodes, each.field.type, operation) : [each],
  );
  const has = (...any: readonly string[]) => fields.some(({ field }) => any.includes(field.name));
  if (has('edges', 'nodes')) return 'rows';
  if (has('startCursor', 'endCursor')) return 'cursors';
  if (has('hasNextPage', 'hasPreviousPage')) return 'offsets';
  return has('totalCount') ? 'total' : 'nothing';
}
