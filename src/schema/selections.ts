import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  type VariableValues,
  doTypesOverlap,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isCompositeType,
  isUnionType,
} from 'graphql';

import { type Need, maxPagesOfWindow, sizeIssues, sizeOf } from '../connection/window.ts';
import type { Context } from '../context.ts';
import type { ListedRef } from '../resolvers/refs.ts';
import type { GrantedKind, Reach } from '../viewer/viewer.ts';

/** A field as it is executed, however often the document selects it. */
interface CollectedField {
  readonly field: GraphQLField<unknown, unknown>;
  /** More than one where selections are merged. On types that exclude each other their arguments may differ. */
  readonly nodes: FieldNode[];
}

/**
 * The fields that the nodes select on a type, merged as the executor merges them. Each fragment is visited once:
 * expanded, a few hundred tokens of fragments can be exponentially many fields. On an interface, fragments on types that
 * exclude each other are all included, since any of them may apply.
 */
function collectFields(
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
  returnType: GraphQLType | null | undefined,
  { schema, fragmentDefinitions, variableValues }: ValidatedExecutionArgs,
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
      if (isCompositeType(narrowed) && doTypesOverlap(schema, type, narrowed))
        collect(fragment?.selectionSet, narrowed);
    }
  };

  function add(node: FieldNode, owner: GraphQLCompositeType): void {
    const field = schema.getField(owner, node.name.value)!;
    // Two types may define different arguments for fields of one name.
    const { name: typeName } = field.args.length > 0 ? owner : getNamedType(field.type);
    const key = `${responseName(node)} ${field.name} ${typeName}`;
    const known = collected.get(key);
    if (known) known.nodes.push(node);
    else collected.set(key, { field, nodes: [node] });
  }

  for (const { selectionSet } of nodes) collect(selectionSet, type);
  return [...collected.values()];
}

const isIncluded = (selection: SelectionNode, values: VariableValues): boolean =>
  !selection.directives?.length ||
  (getDirectiveValues(GraphQLSkipDirective, selection, values)?.['if'] !== true &&
    getDirectiveValues(GraphQLIncludeDirective, selection, values)?.['if'] !== false);

/** The subfields that the field being resolved selects, once for each alias. */
export const selectedSubfields = (info: GraphQLResolveInfo, { operation }: Context) =>
  collectFields(info.fieldNodes, info.returnType, operation.args);

/**
 * Whether the record must be looked up first, since the selection on this type needs its attributes. With `orId`, also
 * for an `id` of the record or of one in it, which is to include the parent named in the arguments.
 */
export function wantsAttributes(
  info: GraphQLResolveInfo,
  type: ListedRef['type'],
  { operation: { args } }: Context,
  orId = false,
): boolean {
  const fields = collectFields(info.fieldNodes, info.schema.getType(type), args);
  if (fields.some(({ field }) => field.extensions['isAttribute'])) return true;
  if (!orId) return false;
  const inside = fields.flatMap(({ field, nodes }) => collectFields(nodes, field.type, args));
  return [...fields, ...inside].some(({ field }) => field.name === 'id');
}

/** What the connection that is being resolved has to read. */
export function connectionNeed(info: GraphQLResolveInfo, ctx: Context): Need {
  const { connectionNeeds: known } = ctx;
  const need =
    known.get(info.fieldNodes) ?? needOf(selectedSubfields(info, ctx), ctx.operation.args);
  known.set(info.fieldNodes, need);
  return need;
}

/** What the selected subfields of a connection need: it decides which pages are read. */
function needOf(subfields: readonly CollectedField[], operation: ValidatedExecutionArgs): Need {
  const fields = subfields.flatMap((each) =>
    each.field.name === 'pageInfo' ? collectFields(each.nodes, each.field.type, operation) : [each],
  );
  const has = (...any: readonly string[]) => fields.some(({ field }) => any.includes(field.name));
  if (has('edges', 'nodes')) return 'rows';
  if (has('startCursor', 'endCursor')) return 'cursors';
  if (has('hasNextPage', 'hasPreviousPage')) return 'offsets';
  return has('totalCount') ? 'total' : 'nothing';
}

/** A field of one of these types costs one call: a record with a route of its own, or whether it exists. */
const FETCHED_TYPES: ReadonlySet<string> = new Set([
  'Node',
  'Partner',
  'ProgressNote',
  'Transcript',
  'MDM',
  'ArtifactStatus',
  'AssessmentScore',
]);
/** As many as a session usually has at most. */
const EVENTS_OF_SESSION = 25;

export interface ArgumentProblem {
  readonly issues: readonly string[];
  readonly nodes: readonly FieldNode[];
  /** Without list indices: nothing has been read. */
  readonly path: readonly string[];
}

/** The last estimate of each operation, with the shape of its variables: saves a tenth of the CPU of a cached list. */
const lastEstimates = new WeakMap<OperationDefinitionNode, { shape: string; calls: number }>();

/**
 * What an estimate may depend on: numbers, flags, the lengths of lists, and whether another value is given. It must not
 * depend on a text, nor on anything inside of a list or an input object.
 */
function shapeOf(values: VariableValues['coerced']): string {
  let shape = '';
  for (const name in values) {
    const value = Array.isArray(values[name]) ? values[name].length : values[name];
    const isSimple = typeof value === 'number' || typeof value === 'boolean' || value === null;
    shape += `${name}:${isSimple ? value : ''} `;
  }
  return shape;
}

/** The most calls that the operation can make, without look-ups, rereads and retries; and problems of its arguments. */
export function estimateCalls(validated: ValidatedExecutionArgs, reach: Reach) {
  const { schema, operation, variableValues } = validated;
  const problems: ArgumentProblem[] = [];
  const shape = shapeOf(variableValues.coerced);
  const last = lastEstimates.get(operation);
  if (last?.shape === shape) return { calls: last.calls, problems };
  let dependsOnViewer = false;
  /** By the merged nodes: through fragments, exponentially many paths lead to the same ones. */
  const estimates = new Map<string, number>();

  function ofFields(fields: readonly CollectedField[], parent: readonly string[]): number {
    return fields.reduce((sum, field) => {
      const key = field.nodes.map(({ loc }) => loc!.start).join();
      const calls = estimates.get(key) ?? estimate(field, parent);
      estimates.set(key, calls);
      return sum + calls;
    }, 0);
  }

  /** By the type of the field. Look-ups of records are not included: they are counted as they happen. */
  function estimate({ field, nodes }: CollectedField, parent: readonly string[]): number {
    const path = [...parent, responseName(nodes[0]!)];
    const inner = collectFields(nodes, field.type, validated);
    /** Calls of the subselection, for one record. */
    const below = ofFields(inner, path);
    const type = getNamedType(field.type);
    const isConnection = type.name.endsWith('Connection');
    const takesIds = field.args.some(({ name }) => name === 'ids');
    const granted = field.extensions['granted'] as GrantedKind | undefined;
    dependsOnViewer ||= granted !== undefined;
    if (granted) return reach.grantedIds(granted).length * below;
    if (type.name === 'SessionEvent') return 1 + EVENTS_OF_SESSION * below;
    const ofNode = (node: FieldNode): number => {
      const args = getArgumentValues(field, node, variableValues);
      if (!isConnection) return (args['ids'] as readonly unknown[]).length * (1 + below);
      const issues = sizeIssues(args);
      if (issues.length > 0) problems.push({ issues, nodes: [node], path });
      const isLog = type.name === 'PartnerEventConnection';
      const pages = isLog ? 1 : maxPagesOfWindow(args, needOf(inner, validated));
      return pages + sizeOf(args).count * below;
    };
    if (isConnection || takesIds) return Math.max(...nodes.map(ofNode));
    // Every mutation returns a union. A note is read before it is changed.
    if (isUnionType(type))
      return below + (type.getTypes().some(({ name }) => name === 'ProgressNoteChange') ? 2 : 1);
    return FETCHED_TYPES.has(type.name) ? 1 + below : below;
  }

  const fields = collectFields([operation], schema.getRootType(operation.operation), validated);
  const once = fields.filter(({ field }) => field.extensions['once']);
  if (once.length > 1) {
    const nodes = once.flatMap((each) => each.nodes);
    const issues = [`"${nodes[0]!.name.value}" may be selected once in an operation.`];
    problems.push({ issues, nodes, path: [responseName(nodes[0]!)] });
  }
  const calls = ofFields(fields, []);
  if (!dependsOnViewer && problems.length === 0) lastEstimates.set(operation, { shape, calls });
  return { calls, problems };
}

const responseName = ({ alias, name }: FieldNode): string => (alias ?? name).value;
