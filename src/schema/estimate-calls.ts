import {
  type FieldNode,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  getArgumentValues,
} from 'graphql';

import { sizeIssues, maxPagesOfWindow, sizeOf } from '../connection/window.ts';
import type { GrantedKind, Reach } from '../viewer/viewer.ts';
import { type CollectedField, collectFields, needOf } from './selections.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * What a field may cost in upstream calls, as its `extensions` say. `below` is the cost of its subselection for one
 * record. Look-ups of records are not included: they are counted as they happen.
 */
type Cost = 'list' | 'events' | ((below: number, args: () => Arguments, reach: Reach) => number);
const withCost = (cost: Cost): { readonly cost: Cost } => ({ cost });

/** A connection costs the pages of its window, and its subselection once for each row. */
export const listCost = withCost('list');
export const oneCall = withCost((below) => 1 + below);
/** Costs a call and the subselection for each item of an argument. */
export const callForEach = (argument: string) =>
  withCost((below, args) => (1 + below) * (args()[argument] as readonly unknown[]).length);
/** Costs the subselection for each record that the viewer's grants name. */
export const forGranted = (kind: GrantedKind) =>
  withCost((below, _args, reach) => reach.granted(kind).length * below);
/** A page of the event log costs one call, and its subselection once for each event. */
export const eventsCost = withCost('events');
/** Costs the subselection for as many events as a session usually has at most. */
export const eventsOfSessionCost = withCost((below) => 1 + 25 * below);

export interface ArgumentProblem {
  readonly issues: readonly string[];
  readonly nodes: readonly FieldNode[];
  /** Without list indices: nothing has been read. */
  readonly path: readonly string[];
}

/** Estimates that are the same for all variables and viewers. An executed note takes 0.95 of the CPU with them. */
const constant = new WeakMap<OperationDefinitionNode, number>();

/** The most upstream calls that the operation can make, without look-ups, drift and retries; or what is wrong with it. */
export function estimateCalls(validated: ValidatedExecutionArgs, reach: Reach) {
  const { schema, document, operation, variableValues } = validated;
  const problems: ArgumentProblem[] = [];
  const known = constant.get(operation);
  if (known !== undefined) return { calls: known, problems };
  // A directive may have a variable.
  let isConstant = !document.loc!.source.body.includes('@');
  /** By the merged nodes: through fragments, exponentially many paths lead to the same ones. */
  const estimates = new Map<string, number>();

  const ofFields = (fields: readonly CollectedField[], parent: readonly string[]): number =>
    fields.reduce((calls, field) => calls + ofField(field, parent), 0);

  function ofField(collected: CollectedField, parent: readonly string[]): number {
    const key = collected.nodes.map(({ loc }) => loc!.start).join();
    const calls = estimates.get(key) ?? estimate(collected, parent);
    estimates.set(key, calls);
    return calls;
  }

  function estimate({ field, nodes }: CollectedField, parent: readonly string[]): number {
    const path = [...parent, responseName(nodes)];
    const inner = collectFields(nodes, field.type, validated);
    const below = ofFields(inner, path);
    const cost = field.extensions['cost'] as Cost | undefined;
    if (!cost) return below;
    isConstant &&= cost === oneCall.cost;
    const ofNode = (node: FieldNode): number => {
      const argsOf = () => getArgumentValues(field, node, variableValues);
      if (typeof cost === 'function') return cost(below, argsOf, reach);
      const args = argsOf();
      const issues = sizeIssues(args);
      if (issues.length > 0) problems.push({ issues, nodes: [node], path });
      const pages = cost === 'events' ? 1 : maxPagesOfWindow(args, needOf(inner, validated));
      return pages + sizeOf(args).count * below;
    };
    return Math.max(...nodes.map(ofNode));
  }

  const fields = collectFields([operation], schema.getRootType(operation.operation), validated);
  const once = fields.filter(({ field }) => field.extensions['once']);
  if (once.length > 1) {
    const nodes = once.flatMap((each) => each.nodes);
    const issues = [`"${nodes[0]!.name.value}" may be selected once in an operation.`];
    problems.push({ issues, nodes, path: [responseName(nodes)] });
  }
  const calls = ofFields(fields, []);
  if (isConstant && problems.length === 0) constant.set(operation, calls);
  return { calls, problems };
}

const responseName = ([node]: readonly FieldNode[]): string => (node!.alias ?? node!.name).value;
