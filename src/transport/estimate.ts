import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  type ValidatedExecutionArgs,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';

import type { CursorCodec } from '../connection/cursor.ts';
import { type Asked, pagesOfWindow } from '../connection/estimate.ts';
import { countIssues, sizeOf } from '../connection/window-args.ts';
import { type Price, priceOf } from '../resolvers/price.ts';
import type { Reach } from '../viewer/reach.ts';

/** An operation's worst case, or what is wrong with its windows. */
export interface Estimate {
  readonly calls: number;
  readonly issues: readonly string[];
}

type Arguments = Readonly<Record<string, unknown>>;

/** The most upstream calls that the operation can take, searches, drift and retries aside. */
export function estimateCalls(
  args: ValidatedExecutionArgs,
  reach: Reach,
  cursors: CursorCodec,
): Estimate {
  const { schema, operation } = args;
  const issues: string[] = [];
  const root = schema.getRootType(operation.operation);
  const walk = createWalk(args, reach, cursors, issues);
  return { calls: root ? walk(operation.selectionSet, root) : 0, issues };
}

function createWalk(
  validated: ValidatedExecutionArgs,
  reach: Reach,
  cursors: CursorCodec,
  issues: string[],
) {
  const { schema } = validated;
  const selectedOnce = new Set<string>();

  function countOnce(name: string): void {
    if (selectedOnce.has(name)) issues.push(`"${name}" may be asked for once an operation`);
    selectedOnce.add(name);
  }

  function ofSelections(set: SelectionSetNode | undefined, type: GraphQLCompositeType): number {
    let calls = 0;
    eachField(set, type, validated, (field, owner) => {
      calls += ofField(field, fieldOf(schema, owner, field));
    });
    return calls;
  }

  function ofField(node: FieldNode, field: GraphQLField<unknown, unknown> | undefined): number {
    const type = field && getNamedType(field.type);
    const below = isCompositeType(type) ? () => ofSelections(node.selectionSet, type) : () => 0;
    if (field?.extensions['once'] === true) countOnce(field.name);
    const price = field && priceOf(field.extensions);
    if (!price) return below();
    if (price.kind === 'call') return 1 + below();
    const args = getArgumentValues(field, node, validated.variableValues);
    return price.kind === 'list'
      ? ofList(args, node, type as GraphQLCompositeType, below)
      : timesOf(price, args) * below() + (price.kind === 'each' ? timesOf(price, args) : 0);
  }

  /** What hangs below a connection is counted once by `below`, for one row: rows are what it is taken times. */
  function ofList(
    args: Arguments,
    node: FieldNode,
    type: GraphQLCompositeType,
    below: () => number,
  ): number {
    issues.push(...countIssues(args));
    const pages = pagesOfWindow(args, askedOf(node, type, validated), cursors);
    return pages + sizeOf(args).count * below();
  }

  function timesOf(price: Exclude<Price, { kind: 'list' | 'call' }>, args: Arguments): number {
    if (price.kind === 'granted') return reach.granted(price.of).length;
    const given = price.argument === undefined ? undefined : args[price.argument];
    if (Array.isArray(given)) return given.length;
    return price.kind === 'events' ? Number(given ?? price.usual) : 1;
  }

  return ofSelections;
}

/** Which members of a connection are selected: they decide which pages are read. */
function askedOf(
  node: FieldNode,
  type: GraphQLCompositeType,
  validated: ValidatedExecutionArgs,
): Asked {
  const names = new Set<string>();
  eachField(node.selectionSet, type, validated, (field, owner) => {
    names.add(field.name.value);
    const info = field.name.value === 'pageInfo' && fieldOf(validated.schema, owner, field);
    if (!info) return;
    const infoType = getNamedType(info.type) as GraphQLCompositeType;
    eachField(field.selectionSet, infoType, validated, (member) => names.add(member.name.value));
  });
  return {
    rows: names.has('edges') || names.has('nodes'),
    ends: names.has('startCursor') || names.has('endCursor'),
    totals: names.has('totalCount') || names.has('hasNextPage') || names.has('hasPreviousPage'),
  };
}

/** Every field that is selected on a type, fragments written out; of fragments on other types too, to be safe. */
function eachField(
  set: SelectionSetNode | undefined,
  type: GraphQLCompositeType,
  validated: ValidatedExecutionArgs,
  visit: (field: FieldNode, owner: GraphQLCompositeType) => void,
): void {
  for (const selection of set?.selections ?? []) {
    const { values } = { values: validated.variableValues };
    if (getDirectiveValues(GraphQLSkipDirective, selection, values)?.['if'] === true) continue;
    if (getDirectiveValues(GraphQLIncludeDirective, selection, values)?.['if'] === false) continue;
    if (selection.kind === Kind.FIELD) {
      visit(selection, type);
      continue;
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : validated.fragmentDefinitions[selection.name.value];
    const narrowed =
      fragment?.typeCondition && validated.schema.getType(fragment.typeCondition.name.value);
    eachField(
      fragment?.selectionSet,
      isCompositeType(narrowed) ? narrowed : type,
      validated,
      visit,
    );
  }
}

function fieldOf(schema: GraphQLSchema, owner: GraphQLCompositeType, node: FieldNode) {
  void schema;
  return isObjectType(owner) || isInterfaceType(owner)
    ? owner.getFields()[node.name.value]
    : undefined;
}
