import { type GraphQLError, type VariableValues, getArgumentValues, locatedError } from 'graphql';

import type { Context } from '../../context.ts';
import { isRow } from '../../resolvers/list.ts';
import { type Failure, type Path, keysOf, tellable } from './failures.ts';
import type { FieldPlan, LeafPlan, ObjectPlan, TypePlan } from './plan.ts';
import type { RememberedRows } from './remembered-rows.ts';

/** JSON text: at once where everything was cached, later where something was not. */
type Text = string | Promise<string>;

interface Run {
  readonly ctx: Context;
  readonly variables: VariableValues;
  readonly rows: RememberedRows | undefined;
  readonly errors: Failure[];
  /** Arguments that variables decide, each read once. */
  readonly args: Readonly<Record<string, unknown>>[];
  /** How often they had a say. */
  variablesUsed: number;
  /** Rows within a row are remembered with it. */
  isInRow: boolean;
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
  rows?: RememberedRows,
): Executed | Promise<Executed> {
  const run: Run = {
    ctx,
    variables,
    rows,
    errors: [],
    args: [],
    variablesUsed: 0,
    isInRow: false,
  };
  const lost = (error: unknown): string => {
    run.errors.push({ error: error as GraphQLError, nulled: [] });
    return 'null';
  };
  const done = (data: string): Executed => ({ data, errors: tellable(run.errors) });
  try {
    const data = objectText(plan, undefined, undefined, run);
    return typeof data === 'string' ? done(data) : data.catch(lost).then(done);
  } catch (error) {
    return done(lost(error));
  }
}

function objectText(plan: ObjectPlan, source: unknown, path: Path | undefined, run: Run): Text {
  let text = '{';
  let later: Text[] | undefined;
  try {
    for (const field of plan.fields()) {
      const label = text === '{' && !later ? field.label : `,${field.label}`;
      const value = fieldText(field, plan.typeName, source, path, run);
      if (typeof value === 'string') text += label + value;
      else {
        later ??= [];
        later.push(text + label, value);
        text = '';
      }
    }
  } catch (error) {
    if (later) abandon(later);
    throw error;
  }
  return later ? joined(later, `${text}}`) : `${text}}`;
}

/** What holds for everybody of the same reach, and not for this operation's variables alone, may be repeated. */
function rowText(plan: ObjectPlan, source: object, path: Path, run: Run): Text {
  if (!run.rows || run.isInRow || !isRow(source)) return objectText(plan, source, path, run);
  const [failures, used] = [run.errors.length, run.variablesUsed];
  return run.rows.textOf(source, plan, run.ctx, {
    make() {
      run.isInRow = true;
      try {
        return objectText(plan, source, path, run);
      } finally {
        run.isInRow = false;
      }
    },
    isCommon: () => run.errors.length === failures && run.variablesUsed === used,
  });
}

function fieldText(
  plan: FieldPlan,
  typeName: string,
  source: unknown,
  above: Path | undefined,
  run: Run,
): Text {
  const { field, type } = plan;
  if (field.name === '__typename') return JSON.stringify(typeName);
  try {
    const value: unknown = field.resolve
      ? field.resolve(source, argsOf(plan, run), run.ctx, undefined as never)
      : (source as Record<string, unknown>)[field.name];
    if (type.kind === 'leaf' && !(value instanceof Promise)) return scalarText(type, value, plan);
    const path = { above, key: plan.responseKey };
    return completed(type, value, plan, path, run);
  } catch (error) {
    return failed(error, type, plan, { above, key: plan.responseKey }, run);
  }
}

/** One promise for what comes late and for its failure: there are hundreds of them. */
function completed(type: TypePlan, value: unknown, plan: FieldPlan, path: Path, run: Run): Text {
  if (!(value instanceof Promise)) {
    const text = valueText(type, value, plan, path, run);
    return typeof text === 'string' ? text : text.catch(failing(type, plan, path, run));
  }
  return value.then(
    (loaded: unknown) => {
      try {
        return completed(type, loaded, plan, path, run);
      } catch (error) {
        return failed(error, type, plan, path, run);
      }
    },
    failing(type, plan, path, run),
  );
}

const failing = (type: TypePlan, plan: FieldPlan, path: Path, run: Run) => (error: unknown) =>
  failed(error, type, plan, path, run);

/** What may be null takes an error here; what may not passes it on to whatever holds it. */
function failed(thrown: unknown, type: TypePlan, plan: FieldPlan, path: Path, run: Run): string {
  const keys = keysOf(path);
  const error = locatedError(thrown, plan.nodes, keys);
  if (!type.nullable) throw error;
  run.errors.push({ error, nulled: keys });
  return 'null';
}

function argsOf(plan: FieldPlan, run: Run): Readonly<Record<string, unknown>> {
  if (plan.fixedArgs) return plan.fixedArgs;
  run.variablesUsed += 1;
  return (run.args[plan.index] ??= getArgumentValues(plan.field, plan.nodes[0]!, run.variables));
}

function valueText(type: TypePlan, value: unknown, plan: FieldPlan, path: Path, run: Run): Text {
  if (type.kind === 'leaf') return scalarText(type, value, plan);
  if (isMissing(value, type, plan)) return 'null';
  switch (type.kind) {
    case 'object':
      return rowText(type.plan, value as object, path, run);
    case 'abstract':
      return rowText(type.planOf(value), value as object, path, run);
    case 'list':
      return listText(type.of, value as Iterable<unknown>, plan, path, run);
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
  path: Path,
  run: Run,
): Text {
  if (of.kind === 'leaf' && of.isRaw && Array.isArray(list) && !list.includes(null)) {
    return JSON.stringify(list);
  }
  let text = '[';
  let later: Text[] | undefined;
  let at = 0;
  try {
    for (const item of list) {
      if (at > 0) text += ',';
      const value = itemText(of, item, plan, { above: path, key: at }, run);
      at += 1;
      if (typeof value === 'string') text += value;
      else {
        later ??= [];
        later.push(text, value);
        text = '';
      }
    }
  } catch (error) {
    abandon([...(later ?? []), ...list]);
    throw error;
  }
  return later ? joined(later, `${text}]`) : `${text}]`;
}

function itemText(of: TypePlan, item: unknown, plan: FieldPlan, path: Path, run: Run): Text {
  try {
    return completed(of, item, plan, path, run);
  } catch (error) {
    return failed(error, of, plan, path, run);
  }
}

/** Text and what comes late take turns in `parts`, text first. */
async function joined(parts: readonly Text[], rest: string): Promise<string> {
  const [text, late] = parts as [string, Promise<string>];
  if (parts.length === 2) return text + (await late) + rest;
  const texts = await Promise.all(parts as readonly Promise<string>[]);
  return texts.join('') + rest;
}

/** Whoever waited for these has failed already: what becomes of them no longer matters. */
function abandon(parts: readonly unknown[]): void {
  for (const part of parts) if (part instanceof Promise) part.catch(() => undefined);
}
