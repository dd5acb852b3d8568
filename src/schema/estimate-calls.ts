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
import { type Price, priceOf } from '../resolvers/price.ts';
import type { Reach } from '../viewer/viewer.ts';
import { type GatheredField, gatherFields } from './selections.ts';

/** An operation's worst case in calls, or what is wrong with its arguments. */
export interface Estimate {
  readonly calls: number;
  readonly problems: readonly ArgumentProblem[];
}

/** One for each field. */
export interface ArgumentProblem {
  readonly issues: readonly string[];
  readonly nodes: readonly FieldNode[];
  /** Without the indices of lists: nothing has been read. */
  readonly path: Path;
}

type Path = readonly string[];

type Arguments = Readonly<Record<string, unknown>>;

/** Estimates that depend neither on variables nor on the viewer. */
const fixed = new WeakMap<OperationDefinitionNode, Estimate>();

/** The most upstream calls that the operation can take, searches, drift and retries aside. */
export function estimateCalls(
  validated: ValidatedExecutionArgs,
  reach: Reach,
  cursors: CursorCodec,
): Estimate {
  const { operation } = validated;
  const known = fixed.get(operation);
  if (known) return known;
  const { isFixed, ...estimate } = computed(validated, reach, cursors);
  if (isFixed) fixed.set(operation, estimate);
  return estimate;
}

function computed(validated: ValidatedExecutionArgs, reach: Reach, cursors: CursorCodec) {
  const { schema, operation } = validated;
  const problems: ArgumentProblem[] = [];
  // Directives may depend on variables.
  let isFixed = operation.loc?.source.body.includes('@') === false;

  const ofFields = (fields: readonly GatheredField[], parent: Path): number =>
    fields.reduce((calls, field) => calls + ofField(field, parent), 0);

  function ofField({ field, nodes }: GatheredField, parent: Path): number {
    const path = [...parent, responseName(nodes)];
    const type = getNamedType(field.type);
    const inner = isCompositeType(type) ? gatherFields(setsOf(nodes), type, validated) : [];
    const below = ofFields(inner, path);
    const price = priceOf(field.extensions);
    if (!price) return below;
    if (price.kind === 'call') return 1 + below;
    if (price.kind === 'granted' || nodes.some(usesVariables)) isFixed = false;
    const ofNode = (node: FieldNode): number => {
      const args = getArgumentValues(field, node, validated.variableValues);
      if (price.kind !== 'list') return ofTimes(price, args, below);
      const issues = countIssues(args);
      if (issues.length > 0) problems.push({ issues, nodes: [node], path });
      return ofList(args, inner, below);
    };
    return Math.max(...nodes.map(ofNode));
  }

  /** `below` is the cost of the subselection for one row. */
  function ofList(args: Arguments, inner: readonly GatheredField[], below: number): number {
    const pages = pagesOfWindow(args, askedOf(inner, validated), cursors);
    return pages + sizeOf(args).count * below;
  }

  function ofTimes(price: Repeated, args: Arguments, below: number): number {
    const times = timesOf(price, args, reach);
    const own = price.kind === 'each' ? times : price.kind === 'events' ? 1 : 0;
    return times * below + own;
  }

  const root = schema.getRootType(operation.operation);
  const fields = root ? gatherFields([operation.selectionSet], root, validated) : [];
  problems.push(...repeatedIn(fields));
  const calls = ofFields(fields, []);
  return { calls, problems, isFixed };
}

/** Fields that may stand once at the root (`once` in their extensions) and stand there under several aliases. */
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

type Repeated = Exclude<Price, { kind: 'list' | 'call' }>;

function timesOf(price: Repeated, args: Arguments, reach: Reach): number {
  if (price.kind === 'granted') return reach.granted(price.of).length;
  const given = price.argument === undefined ? undefined : args[price.argument];
  if (Array.isArray(given)) return given.length;
  return price.kind === 'events' ? Number(given ?? price.usual) : 1;
}

const setsOf = (nodes: readonly FieldNode[]) =>
  nodes.map(({ selectionSet }) => selectionSet).filter((set) => set !== undefined);

const usesVariables = ({ arguments: given = [] }: FieldNode): boolean =>
  given.some(({ value }) => hasVariable(value));

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
