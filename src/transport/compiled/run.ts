import {
  type GraphQLError,
  type GraphQLLeafType,
  type VariableValues,
  getArgumentValues,
  locatedError,
} from 'graphql';

import type { Context } from '../../context.ts';
import type { FieldPlan, ObjectPlan, TypePlan } from './plan.ts';

/** JSON text: at once where everything was cached, later where something was not. */
type Text = string | Promise<string>;

/** Where in the answer: made only for what can hold more fields, and read only for errors. */
interface Path {
  readonly above: Path | undefined;
  readonly key: string | number;
}

interface Run {
  readonly ctx: Context;
  readonly variables: VariableValues;
  readonly errors: Failure[];
  /** Arguments that variables decide, each read once. */
  readonly args: Readonly<Record<string, unknown>>[];
}

interface Failure {
  readonly error: GraphQLError;
  /** What became null of it: the field itself, or the nearest above that may be. */
  readonly nulled: readonly (string | number)[];
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
): Executed | Promise<Executed> {
  const run: Run = { ctx, variables, errors: [], args: [] };
  const failed = (error: unknown): string => {
    run.errors.push({ error: error as GraphQLError, nulled: [] });
    return 'null';
  };
  const done = (data: string): Executed => ({ data, errors: tellable(run.errors) });
  try {
    const data = objectText(plan, undefined, undefined, run);
    return typeof data === 'string' ? done(data) : data.catch(failed).then(done);
  } catch (error) {
    return done(failed(error));
  }
}

/** Errors of what an error further up has made null anyway are left out: nobody can see their place. */
function tellable(failures: readonly Failure[]): readonly GraphQLError[] {
  const isHidden = ({ error }: Failure) =>
    failures.some((other) => other.error !== error && isUnder(error.path ?? [], other.nulled));
  return failures.filter((failure) => !isHidden(failure)).map(({ error }) => error);
}

const isUnder = (path: readonly unknown[], above: readonly unknown[]): boolean =>
  path.length >= above.length && above.every((key, at) => path[at] === key);

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

function fieldText(
  plan: FieldPlan,
  typeName: string,
  source: unknown,
  above: Path | undefined,
  run: Run,
): Text {
  const { field, type } = plan;
  if (field.name === '__typename') return JSON.stringify(typeName);
  const path = { above, key: plan.responseKey };
  // What may be null takes an error here; what may not passes it on to whatever holds it.
  const failed = (thrown: unknown): string => {
    const keys = keysOf(path);
    const error = locatedError(thrown, plan.nodes, keys);
    if (!type.nullable) throw error;
    run.errors.push({ error, nulled: keys });
    return 'null';
  };
  try {
    const value: unknown = field.resolve
      ? field.resolve(source, argsOf(plan, run), run.ctx, undefined as never)
      : (source as Record<string, unknown>)[field.name];
    const text =
      value instanceof Promise
        ? value.then((loaded: unknown) => valueText(type, loaded, plan, path, run))
        : valueText(type, value, plan, path, run);
    return typeof text === 'string' ? text : text.catch(failed);
  } catch (error) {
    return failed(error);
  }
}

function argsOf(plan: FieldPlan, run: Run): Readonly<Record<string, unknown>> {
  return (
    plan.fixedArgs ??
    (run.args[plan.index] ??= getArgumentValues(plan.field, plan.nodes[0]!, run.variables))
  );
}

function valueText(type: TypePlan, value: unknown, plan: FieldPlan, path: Path, run: Run): Text {
  if (value === null || value === undefined) {
    if (type.nullable) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${plan.field.name}.`);
  }
  if (value instanceof Error) throw value;
  switch (type.kind) {
    case 'leaf':
      return leafText(type.type, value);
    case 'object':
      return objectText(type.plan, value, path, run);
    case 'abstract':
      return objectText(type.planOf(value), value, path, run);
    case 'list':
      return listText(type.of, value as Iterable<unknown>, plan, path, run);
  }
}

function leafText(type: GraphQLLeafType, value: unknown): string {
  const text = JSON.stringify(type.serialize(value)) as string | undefined;
  return text ?? 'null';
}

/** Lists of the Partner API's own JSON, such as a note's: written once for as long as the record is kept. */
const rawTexts = new WeakMap<object, string>();

function rawListText(list: readonly unknown[]): string {
  const known = rawTexts.get(list);
  if (known !== undefined) return known;
  const text = JSON.stringify(list);
  rawTexts.set(list, text);
  return text;
}

function listText(
  of: TypePlan,
  list: Iterable<unknown>,
  plan: FieldPlan,
  path: Path,
  run: Run,
): Text {
  if (
    of.kind === 'leaf' &&
    of.type.name === 'JSON' &&
    Array.isArray(list) &&
    !list.includes(null)
  ) {
    return rawListText(list);
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
  const failed = (thrown: unknown): string => {
    const keys = keysOf(path);
    const error = locatedError(thrown, plan.nodes, keys);
    if (!of.nullable) throw error;
    run.errors.push({ error, nulled: keys });
    return 'null';
  };
  try {
    const text =
      item instanceof Promise
        ? item.then((loaded: unknown) => valueText(of, loaded, plan, path, run))
        : valueText(of, item, plan, path, run);
    return typeof text === 'string' ? text : text.catch(failed);
  } catch (error) {
    return failed(error);
  }
}

async function joined(parts: readonly Text[], rest: string): Promise<string> {
  const texts = await Promise.all(parts as readonly Promise<string>[]);
  return texts.join('') + rest;
}

/** Whoever waited for these has failed already: what becomes of them no longer matters. */
function abandon(parts: readonly unknown[]): void {
  for (const part of parts) if (part instanceof Promise) part.catch(() => undefined);
}

function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at; at = at.above) keys.unshift(at.key);
  return keys;
}
