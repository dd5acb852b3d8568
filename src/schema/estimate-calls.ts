import {
  type FieldNode,
  type OperationDefinitionNode,
  type ValidatedExecutionArgs,
  getArgumentValues,
  getNamedType,
  isUnionType,
} from 'graphql';

import { sizeIssues, maxPagesOfWindow, sizeOf } from '../connection/window.ts';
import type { GrantedKind, Reach } from '../viewer/viewer.ts';
import { type CollectedField, collectFields, needOf } from './selections.ts';

/** Of records with a route of their own. A field of such a type costs one call. */
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
    const path = [...parent, responseName(nodes)];
    const inner = collectFields(nodes, field.type, validated);
    /** Of the subselection for one record. */
    const below = ofFields(inner, path);
    const type = getNamedType(field.type);
    const isConnection = type.name.endsWith('Connection');
    const takesIds = field.args.some(({ name }) => name === 'ids');
    const granted = field.extensions['granted'] as GrantedKind | undefined;
    isConstant &&= !isConnection && !takesIds && !granted;
    if (granted) return reach.granted(granted).length * below;
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
    // Every mutation returns a union.
    return FETCHED_TYPES.has(type.name) || isUnionType(type) ? 1 + below : below;
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
