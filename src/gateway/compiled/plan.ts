import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  Kind,
  type SelectionSetNode,
  getArgumentValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FragmentDefinitionNode,
} from 'graphql';

/** One field of one selection, with everything that does not change from row to row looked up once. */
export interface FieldPlan {
  /** `"name":` as it stands in the answer. */
  readonly label: string;
  readonly responseKey: string;
  readonly nodes: readonly FieldNode[];
  readonly field: GraphQLField<unknown, unknown>;
  /** Which arguments of the execution are this field's. */
  readonly index: number;
  /** Undefined where variables decide. */
  readonly fixedArgs: Readonly<Record<string, unknown>> | undefined;
  readonly type: TypePlan;
}

export interface LeafPlan {
  readonly kind: 'leaf';
  readonly nullable: boolean;
  /** As JSON. */
  readonly write: (value: unknown) => string;
  /** The Partner API's own JSON, passed through. */
  readonly isRaw: boolean;
}

export type TypePlan =
  | LeafPlan
  | { readonly kind: 'list'; readonly of: TypePlan; readonly nullable: boolean }
  | { readonly kind: 'object'; readonly plan: ObjectPlan; readonly nullable: boolean }
  | {
      readonly kind: 'abstract';
      readonly planOf: (value: unknown) => ObjectPlan;
      readonly nullable: boolean;
    };

export interface ObjectPlan {
  readonly typeName: string;
  /** Made when first needed: a type may contain itself. */
  fields(): readonly FieldPlan[];
}

export interface Compiler {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode | undefined>>;
  /** Fields compiled so far: each has a place for its arguments. */
  count: number;
}

export function planOfObject(
  compiler: Compiler,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ObjectPlan {
  let fields: readonly FieldPlan[] | undefined;
  return {
    typeName: type.name,
    fields: () => (fields ??= planFields(compiler, type, sets)),
  };
}

function planFields(
  compiler: Compiler,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): readonly FieldPlan[] {
  const grouped = new Map<string, FieldNode[]>();
  for (const set of sets) collect(compiler, type, set, grouped, new Set());
  return [...grouped].map(([key, nodes]) => planField(compiler, type, key, nodes));
}

function planField(
  compiler: Compiler,
  parent: GraphQLObjectType,
  responseKey: string,
  nodes: readonly FieldNode[],
): FieldPlan {
  const [first] = nodes as [FieldNode];
  const field = compiler.schema.getField(parent, first.name.value);
  if (!field) throw new TypeError(`${parent.name} has no field ${first.name.value}`);
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const index = compiler.count;
  compiler.count += 1;
  return {
    label: `${JSON.stringify(responseKey)}:`,
    responseKey,
    nodes,
    field,
    index,
    fixedArgs: hasVariables(first) ? undefined : getArgumentValues(field, first),
    type: planType(compiler, field.type, sets),
  };
}

export const hasVariables = ({ arguments: args = [] }: FieldNode): boolean =>
  JSON.stringify(args).includes(`"${Kind.VARIABLE}"`);

function planType(
  compiler: Compiler,
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
  nullable = true,
): TypePlan {
  if (isNonNullType(type)) return planType(compiler, type.ofType, sets, false);
  if (isListType(type))
    return { kind: 'list', of: planType(compiler, type.ofType, sets), nullable };
  if (isLeafType(type)) {
    return { kind: 'leaf', nullable, write: writerOf(type), isRaw: type.name === 'JSON' };
  }
  if (isObjectType(type)) {
    return { kind: 'object', plan: planOfObject(compiler, type, sets), nullable };
  }
  return { kind: 'abstract', planOf: planByType(compiler, type, sets), nullable };
}

/** Most values are strings and booleans already: those need no conversion, only to be written. */
function writerOf(type: GraphQLLeafType): LeafPlan['write'] {
  const converted = (value: unknown) =>
    (JSON.stringify(type.serialize(value)) as string | undefined) ?? 'null';
  if (type.name === 'Boolean') {
    return (value) => (value === true ? 'true' : value === false ? 'false' : converted(value));
  }
  // A UUID is only ever made of hexadecimal digits and hyphens.
  if (type.name === 'UUID') {
    return (value) => (typeof value === 'string' ? `"${value}"` : converted(value));
  }
  const keepsText = type.name === 'String' || type.name === 'ID';
  return keepsText
    ? (value) => (typeof value === 'string' ? JSON.stringify(value) : converted(value))
    : converted;
}

function planByType(
  compiler: Compiler,
  type: Exclude<GraphQLCompositeType, GraphQLObjectType>,
  sets: readonly SelectionSetNode[],
) {
  const plans = new Map<string, ObjectPlan>();
  return (value: unknown): ObjectPlan => {
    // Ours answer with the name alone, at once: they look at the value and at nothing else.
    const name = type.resolveType?.(value, undefined, undefined as never, type) as string;
    const known = plans.get(name);
    if (known) return known;
    const concrete = compiler.schema.getType(name);
    if (!isObjectType(concrete)) throw new TypeError(`${type.name} resolved to no object type`);
    const plan = planOfObject(compiler, concrete, sets);
    plans.set(name, plan);
    return plan;
  };
}

/** Fields by their name in the answer, fragments written out, in the order of the document. */
function collect(
  compiler: Compiler,
  type: GraphQLObjectType,
  set: SelectionSetNode,
  into: Map<string, FieldNode[]>,
  spread: Set<string>,
): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const nodes = into.get(key);
      if (nodes) nodes.push(selection);
      else into.set(key, [selection]);
      continue;
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD) {
      if (spread.has(selection.name.value)) continue;
      spread.add(selection.name.value);
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : compiler.fragments[selection.name.value];
    if (fragment && applies(compiler.schema, fragment.typeCondition?.name.value, type)) {
      collect(compiler, type, fragment.selectionSet, into, spread);
    }
  }
}

function applies(
  schema: GraphQLSchema,
  condition: string | undefined,
  type: GraphQLObjectType,
): boolean {
  if (condition === undefined || condition === type.name) return true;
  const wanted = schema.getType(condition);
  return isAbstractType(wanted) && schema.isSubType(wanted, type);
}
