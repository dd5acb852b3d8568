import {
  type ASTVisitor,
  type GraphQLEnumType,
  GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValidationContext,
  type ValueNode,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  typeFromAST,
  validateInputLiteral,
  validateInputValue,
} from 'graphql';

/**
 * graphql's messages about values quote them: a value may be a patient's, and 200 kB long. These have graphql's
 * grammar, say where the value stands, and are made from its type and form, so that nothing of it can be in them.
 */
type Path = readonly (string | number)[];

/** graphql's rule of the same name, with messages that name the argument and not the value. */
export function ValuesOfCorrectTypeRule(context: ValidationContext): ASTVisitor {
  const { hideSuggestions } = context;
  let variable = '';

  function check(node: ValueNode): false {
    const isList = node.kind === Kind.LIST;
    const type = isList ? context.getParentInputType() : context.getInputType();
    const argument = context.getArgument();
    const subject = argument
      ? `Argument "${String(argument)}" has invalid value`
      : `Variable "$${variable}" has invalid default value`;
    const onError = (error: GraphQLError, path: Path): void => {
      const wrong = nodeAt(node, path);
      const form = FORMS_OF_NODES[wrong.kind] ?? 'other';
      const keys = hideSuggestions ? [] : nameOf(error);
      const problem = problemOf(typeAt(type!, path), form, error, keys);
      const message = `${subject}${at(path)}: ${problem}`;
      context.reportError(new GraphQLError(message, { nodes: error.nodes ?? wrong }));
    };
    if (type) validateInputLiteral(node, type, onError, undefined, undefined, hideSuggestions);
    return false;
  }

  return {
    VariableDefinition: (node) => void (variable = node.variable.name.value),
    NullValue: check,
    ListValue: check,
    ObjectValue: check,
    EnumValue: check,
    IntValue: check,
    FloatValue: check,
    StringValue: check,
    BooleanValue: check,
  };
}

/** What is wrong with the variables, as far as `most` problems. */
export function variableProblems(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
  { hideSuggestions, most }: { readonly hideSuggestions: boolean; readonly most: number },
): readonly GraphQLError[] {
  const problems: GraphQLError[] = [];
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    const isOptional = definition.defaultValue !== undefined || !isNonNullType(type);
    if (!isInputType(type) || (value === undefined && isOptional)) continue;
    const onError = (error: GraphQLError, path: Path): void => {
      const wrong = valueAt(value, path);
      const keys = hideSuggestions ? [] : Object.keys(Object(wrong));
      const problem = problemOf(typeAt(type, path), formOfValue(wrong), error, keys);
      const message = `Variable "$${name}" has invalid value${at(path)}: ${problem}`;
      problems.push(new GraphQLError(message, { nodes: definition }));
      // Ends the walk: a body has room for a hundred thousand wrong items.
      if (problems.length === most) throw error;
    };
    try {
      validateInputValue(value, type, onError, hideSuggestions);
    } catch (error) {
      if (problems.length < most) throw error;
      return problems;
    }
  }
  return problems;
}

/** All that a message may depend on. `name`: an enum value in a document; `text`: a string. */
type Form = 'null' | 'name' | 'text' | 'integer' | 'object' | 'other';

const FORMS_OF_NODES: Readonly<Partial<Record<Kind, Form>>> = {
  [Kind.NULL]: 'null',
  [Kind.ENUM]: 'name',
  [Kind.STRING]: 'text',
  [Kind.INT]: 'integer',
  [Kind.OBJECT]: 'object',
};

function formOfValue(value: unknown): Form {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'object') return Array.isArray(value) ? 'other' : 'object';
  return Number.isInteger(value) ? 'integer' : 'other';
}

const SCALAR_PROBLEMS: Readonly<Record<string, string>> = {
  Int: 'Int cannot represent non-integer value.',
  Float: 'Float cannot represent non numeric value.',
  String: 'String cannot represent a non string value.',
  Boolean: 'Boolean cannot represent a non boolean value.',
  ID: 'ID cannot represent a non-string and non-integer value.',
};

/** `keys`: of an object, for suggestions. */
function problemOf(
  type: ReturnType<typeof typeAt>,
  form: Form,
  error: GraphQLError,
  keys: readonly string[],
): string {
  // Of a null, graphql tells the type alone.
  if (form === 'null') return error.message;
  if (isEnumType(type)) return enumProblem(type, form, error);
  if (isInputObjectType(type)) return objectProblem(type, form, error, keys);
  if (type.name === 'Int' && form === 'integer') {
    return 'Int cannot represent non 32-bit signed integer value.';
  }
  if (isSpecifiedScalarType(type)) return SCALAR_PROBLEMS[type.name]!;
  // Our own scalars say what they expect.
  const isOurs = error.extensions['code'] === 'BAD_USER_INPUT';
  return isOurs ? error.message : `Expected value of type "${type.name}".`;
}

function enumProblem({ name }: GraphQLEnumType, form: Form, { nodes, message }: GraphQLError) {
  const isLiteral = nodes !== undefined;
  const problem =
    form === (isLiteral ? 'name' : 'text')
      ? `Value does not exist in "${name}" enum.`
      : `Enum "${name}" cannot represent ${isLiteral ? 'non-enum' : 'non-string'} value.`;
  // Without a suggestion the message ends in a full stop, whatever value is quoted before.
  const suggestion = message.endsWith('?') ? message.lastIndexOf(' Did you mean ') : message.length;
  return problem + message.slice(suggestion);
}

function objectProblem(
  type: GraphQLInputObjectType,
  form: Form,
  error: GraphQLError,
  keys: readonly string[],
): string {
  const subject = `Expected value of type "${type.name}"`;
  if (form !== 'object') return `${subject} to be an object.`;
  const required = (name: string) => `${subject} to include required field "${name}"`;
  const unknown = (name: string) => `${subject} not to include unknown field "${name}"`;
  const missing = Object.keys(type.getFields()).find((name) =>
    error.message.startsWith(required(name)),
  );
  if (missing !== undefined) return `${required(missing)}.`;
  // The keys of a variable are the client's own, as its values are: only a document's names are told.
  const [name] = nameOf(error);
  const problem = name === undefined ? `${subject} not to include unknown fields` : unknown(name);
  const key = keys.find((given) => error.message.startsWith(unknown(given)));
  return `${problem}.${suggestionFor(type, key)}`;
}

/** Of an unknown field that stands in the document. */
const nameOf = ({ nodes }: GraphQLError): readonly string[] =>
  nodes?.[0]?.kind === Kind.OBJECT_FIELD ? [nodes[0].name.value] : [];

/** graphql's own, from what it says of an object with that one key. */
function suggestionFor(type: GraphQLInputObjectType, key = ''): string {
  let suggestion = '';
  if (!/^\w{1,100}$/.test(key)) return suggestion;
  validateInputValue({ [key]: null }, type, ({ message }) => {
    suggestion ||= / Did you mean .*?\?(?= Found: )/.exec(message)?.[0] ?? '';
  });
  return suggestion;
}

/** As graphql prints it. */
const at = (path: Path): string =>
  path.length === 0
    ? ''
    : ` at ${path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('')}`;

/** A value that is no list stands for a list of one: then the path has no index. */
function typeAt(type: GraphQLInputType, path: Path) {
  let found = type;
  for (const key of path) {
    const outer = getNullableType(found);
    if (typeof key === 'string') {
      found = (getNamedType(outer) as GraphQLInputObjectType).getFields()[key]!.type;
    } else if (isListType(outer)) found = outer.ofType;
  }
  return getNamedType(found);
}

function nodeAt(node: ValueNode, path: Path): ValueNode {
  let found = node;
  for (const key of path) {
    if (found.kind === Kind.LIST) found = found.values[key as number] ?? found;
    else if (found.kind === Kind.OBJECT) {
      found = found.fields.find(({ name }) => name.value === key)?.value ?? found;
    }
  }
  return found;
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((found, key) => (found as Record<string | number, unknown>)[key], value);
