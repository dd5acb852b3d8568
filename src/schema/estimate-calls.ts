import {
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  type ValueNode,
  getArgumentValues,
  getNamedType,
  isCompositeType,
} from 'graphql';

import type { CursorCodec } from '../connection/cursor.ts';
import { type Asked, countIssues, pagesOfWindow, sizeOf } from '../connection/window.ts';
import type { GrantedKind, Reach } from '../viewer/viewer.ts';
import { type GatheredField, gatherFields, setsOf } from './selections.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * What a field may cost in upstream calls, as its `extensions` say. `below` is the cost of its subselection for one
 * record. Look-ups of records are not included: they are counted as they happen.
 */
type Price = 'list' | ((below: number, args: () => Arguments, reach: () => Reach) => number);
const priced = (price: Price): { readonly price: Price } => ({ price });

/** A connection costs the pages of its window, and its subselection once for each row. */
export const listPrice = priced('list');
export const oneCall = priced((below) => 1 + below);
/** Costs a call and the subselection for each item of an argument. */
export const callForEach = (argument: string) =>
  priced((below, args) => (1 + below) * (args()[argument] as readonly unknown[]).length);
/** Costs the subselection for each record that the viewer's grants name. */
export const forGranted = (kind: GrantedKind) =>
  priced((below, _args, reach) => reach().granted(kind).length * below);
/** Costs the subselection for as many events as the argument says, or as is usual at most. */
export const forEvents = (usual: number, argument = '') =>
  priced((below, args) => 1 + Number(args()[argument] ?? usual) * below);

export const priceOf = (extensions: object): Price | undefined =>
  (extensions as { readonly price?: Price }).price;

/** An operation's maximum of calls, or what is wrong with its arguments. */
interface Estimate {
  readonly calls: number;
  readonly problems: readonly ArgumentProblem[];
}

/** The problems of one field. */
export interface ArgumentProblem {
  readonly issues: readonly string[];
  readonly nodes: readonly FieldNode[];
  /** Without list indices: nothing has been read. */
  readonly path: readonly string[];
}

/** Estimates that depend neither on variables nor on the viewer. */
const fixed = new WeakMap<OperationDefinitionNode, Estimate>();

/** The most upstream calls that the operation can make, without look-ups, drift and retries. */
export function estimateCalls(
  validated: ValidatedExecutionArgs,
  reach: Reach,
  cursors: CursorCodec,
): Estimate {
  const { schema, operation } = validated;
  const known = fixed.get(operation);
  if (known) return known;
  const problems: ArgumentProblem[] = [];
  // Directives may depend on variables.
  let isFixed = operation.loc?.source.body.includes('@') === false;
  const reachOfViewer = () => {
    isFixed = false;
    return reach;
  };

  const ofFields = (fields: readonly GatheredField[], parent: readonly string[]): number =>
    fields.reduce((calls, field) => calls + ofField(field, parent), 0);

  function ofField({ field, nodes }: GatheredField, parent: readonly string[]): number {
    const path = [...parent, responseName(nodes)];
    const type = getNamedType(field.type);
    const inner = isCompositeType(type) ? gatherFields(setsOf(nodes), type, validated) : [];
    const below = ofFields(inner, path);
    const price = priceOf(field.extensions);
    if (!price) return below;
    const ofNode = (node: FieldNode): number => {
      const argsOf = (): Arguments => {
        if (node.arguments?.some(({ value }) => hasVariable(value))) isFixed = false;
        return getArgumentValues(field, node, validated.variableValues);
      };
      if (price !== 'list') return price(below, argsOf, reachOfViewer);
      const args = argsOf();
      const issues = countIssues(args);
      if (issues.length > 0) problems.push({ issues, nodes: [node], path });
      const pages = pagesOfWindow(args, askedOf(inner, validated), cursors);
      return pages + sizeOf(args).count * below;
    };
    return Math.max(...nodes.map(ofNode));
  }

  const root = schema.getRootType(operation.operation);
  const fields = root ? gatherFields([operation.selectionSet], root, validated) : [];
  problems.push(...repeatedIn(fields));
  const estimate = { calls: ofFields(fields, []), problems };
  if (isFixed) fixed.set(operation, estimate);
  return estimate;
}

/** Fields that may be selected once at the root (`once` in their extensions) and are selected under several aliases. */
function repeatedIn(fields: readonly GatheredField[]): readonly ArgumentProblem[] {
  const single = fields.filter(({ field }) => field.extensions['once']);
  return [...Map.groupBy(single, ({ field }) => field.name)]
    .filter(([, repeated]) => repeated.length > 1)
    .map(([name, repeated]) => ({
      issues: [`"${name}" may be asked for once an operation`],
      nodes: repeated.flatMap(({ nodes }) => nodes),
      path: [responseName(repeated[0]!.nodes)],
    }));
}

const responseName = ([node]: readonly FieldNode[]): string => (node!.alias ?? node!.name).value;

function hasVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(hasVariable);
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => hasVariable(field.value));
  return value.kind === Kind.VARIABLE;
}

/** Which members of a connection are selected: they decide which pages are read. */
function askedOf(members: readonly GatheredField[], validated: ValidatedExecutionArgs): Asked {
  const names = new Set<string>();
  for (const { field, nodes } of members) {
    names.add(field.name);
    const type = getNamedType(field.type);
    if (field.name !== 'pageInfo' || !isCompositeType(type)) continue;
    for (const inner of gatherFields(setsOf(nodes), type, validated)) names.add(inner.field.name);
  }
  return {
    rows: names.has('edges') || names.has('nodes'),
    ends: names.has('startCursor') || names.has('endCursor'),
    totals: names.has('totalCount') || names.has('hasNextPage') || names.has('hasPreviousPage'),
  };
}
