import {
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLResolveInfo,
  type VariableValues,
  getArgumentValues,
} from 'graphql';

import type { Context } from '../../context.ts';
import { type Failures, failed, failedLate, tellable } from './failures.ts';
import { type Place, type Text, giveUp, placeIn, wholeText } from './place.ts';
import type { FieldPlan, LeafPlan, ObjectPlan, TypePlan } from './plan.ts';

type Fragments = Readonly<Record<string, FragmentDefinitionNode | undefined>>;

interface Run extends Failures {
  readonly ctx: Context;
  readonly variables: VariableValues;
  readonly fragments: Fragments;
  /** Arguments that variables decide, each read once. */
  readonly args: Readonly<Record<string, unknown>>[];
  whenWhole: () => void;
}

export interface Executed {
  /** As JSON; `null` where an error went all the way up. */
  readonly data: string;
  readonly errors: readonly GraphQLError[];
}

/** What graphql's own executor would answer, written down as text on the way: no tree of objects in between. */
export function runPlan(
  plan: ObjectPlan,
  ctx: Context,
  variables: VariableValues,
  fragments: Fragments = {},
): Executed | Promise<Executed> {
  const root = placeIn(undefined, '', true);
  const run: Run = {
    ctx,
    variables,
    fragments,
    errors: [],
    args: [],
    awaited: 0,
    whenWhole: () => undefined,
  };
  try {
    root.text = objectText(plan, undefined, root, run);
  } catch (error) {
    root.text = 'null';
    run.errors.push({ error: error as GraphQLError, nulled: [] });
  }
  const done = (): Executed => ({ data: wholeText(root), errors: tellable(run.errors) });
  if (run.awaited === 0) return done();
  return new Promise<void>((resolve) => {
    run.whenWhole = resolve;
  }).then(done);
}

function objectText(plan: ObjectPlan, source: unknown, place: Place, run: Run): Text {
  let text = '{';
  let parts: Text[] | undefined;
  try {
    for (const field of plan.fields()) {
      const label = text === '{' && !parts ? field.label : `,${field.label}`;
      const value = fieldText(field, plan.typeName, source, place, run);
      if (typeof value === 'string') text += label + value;
      else {
        parts ??= [];
        parts.push(text + label, value);
        text = '';
      }
    }
  } catch (error) {
    run.awaited -= giveUp(parts);
    throw error;
  }
  return withRest(parts, `${text}}`);
}

function withRest(parts: Text[] | undefined, rest: string): Text {
  if (!parts) return rest;
  parts.push(rest);
  return parts;
}

function fieldText(
  plan: FieldPlan,
  typeName: string,
  source: unknown,
  above: Place,
  run: Run,
): Text {
  const { field, type } = plan;
  if (field.name === '__typename') return JSON.stringify(typeName);
  try {
    const value: unknown = field.resolve
      ? field.resolve(source, argsOf(plan, run), run.ctx, infoOf(plan, run))
      : (source as Record<string, unknown>)[field.name];
    if (type.kind === 'leaf' && !(value instanceof Promise)) return scalarText(type, value, plan);
    return placedText(type, value, plan, placeOf(plan, above), run);
  } catch (error) {
    return failed(error, plan, placeOf(plan, above), run);
  }
}

/** What resolvers look at of it: the selection below the field. */
const infoOf = ({ nodes }: FieldPlan, { fragments, variables }: Run) =>
  ({ fieldNodes: nodes, fragments, variableValues: variables }) as unknown as GraphQLResolveInfo;

const placeOf = ({ responseKey, type }: FieldPlan, above: Place): Place =>
  placeIn(above, responseKey, type.nullable);

/** The text, or its place where it is not whole yet. */
function placedText(type: TypePlan, value: unknown, plan: FieldPlan, place: Place, run: Run): Text {
  if (value instanceof Promise) {
    run.awaited += 1;
    value.then(
      (loaded: unknown) => arrived(type, loaded, plan, place, run),
      (error: unknown) => arrivedFailed(error, plan, place, run),
    );
    return place;
  }
  const text = valueText(type, value, plan, place, run);
  if (typeof text === 'string') return text;
  place.text = text;
  return place;
}

function arrived(type: TypePlan, value: unknown, plan: FieldPlan, place: Place, run: Run): void {
  if (place.isGivenUp) return;
  // Whatever becomes of it, it is here: what fails in it must not count it among what is awaited.
  place.text = 'null';
  try {
    place.text = valueText(type, value, plan, place, run);
  } catch (error) {
    failedLate(error, plan, place, run);
  }
  countDown(run);
}

function arrivedFailed(error: unknown, plan: FieldPlan, place: Place, run: Run): void {
  if (place.isGivenUp) return;
  place.text = 'null';
  failedLate(error, plan, place, run);
  countDown(run);
}

function countDown(run: Run): void {
  run.awaited -= 1;
  if (run.awaited === 0) run.whenWhole();
}

function argsOf(plan: FieldPlan, run: Run): Readonly<Record<string, unknown>> {
  if (plan.fixedArgs) return plan.fixedArgs;
  return (run.args[plan.index] ??= getArgumentValues(plan.field, plan.nodes[0]!, run.variables));
}

function valueText(type: TypePlan, value: unknown, plan: FieldPlan, place: Place, run: Run): Text {
  if (type.kind === 'leaf') return scalarText(type, value, plan);
  if (isMissing(value, type, plan)) return 'null';
  switch (type.kind) {
    case 'object':
      return objectText(type.plan, value, place, run);
    case 'abstract':
      return objectText(type.planOf(value), value, place, run);
    case 'list':
      return listText(type.of, value as Iterable<unknown>, plan, place, run);
  }
}

function isMissing(value: unknown, type: TypePlan, plan: FieldPlan): boolean {
  if (value instanceof Error) throw value;
  if (value !== null && value !== undefined) return false;
  if (type.nullable) return true;
  throw new Error(`Cannot return null for non-nullable field ${plan.field.name}.`);
}

function scalarText(type: LeafPlan, value: unknown, plan: FieldPlan): string {
  return isMissing(value, type, plan) ? 'null' : type.write(value);
}

function listText(
  of: TypePlan,
  list: Iterable<unknown>,
  plan: FieldPlan,
  place: Place,
  run: Run,
): Text {
  if (of.kind === 'leaf' && of.isRaw && Array.isArray(list) && !list.includes(null)) {
    return JSON.stringify(list);
  }
  let text = '[';
  let parts: Text[] | undefined;
  let at = 0;
  try {
    for (const item of list) {
      if (at > 0) text += ',';
      const value = itemText(of, item, plan, placeIn(place, at, of.nullable), run);
      at += 1;
      if (typeof value === 'string') text += value;
      else {
        parts ??= [];
        parts.push(text, value);
        text = '';
      }
    }
  } catch (error) {
    run.awaited -= giveUp(parts);
    abandon(list);
    throw error;
  }
  return withRest(parts, `${text}]`);
}

function itemText(of: TypePlan, item: unknown, plan: FieldPlan, place: Place, run: Run): Text {
  try {
    return placedText(of, item, plan, place, run);
  } catch (error) {
    return failed(error, plan, place, run);
  }
}

/** The list has failed already: what becomes of those that nobody came to no longer matters. */
function abandon(list: Iterable<unknown>): void {
  for (const item of list) if (item instanceof Promise) item.catch(() => undefined);
}
