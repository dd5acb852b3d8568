import {
  type ASTVisitor,
  GraphQLError,
  Kind,
  type ValidationContext,
  type ValueNode,
  validateInputLiteral,
} from 'graphql';

/**
 * graphql's messages quote values, which may be patient data, or 200 kB long. Each pattern matches one of its messages;
 * the replacement leaves the value out and keeps a suggestion, which names a part of the schema.
 */
const SUGGESTION = ' Did you mean (?:the enum value )?"\\w+"(?:(?:, | or |, or )"\\w+")*\\?';
const UNKNOWN_FIELD = '^(Expected value of type "\\w+" not to include unknown field)';

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/^Expected (a )?value of non-null type "[\w[\]!]+" (not to be null|to be provided)\.$/, '$&'],
  [/^ID cannot represent value: .*/s, 'ID cannot represent a non-string and non-integer value.'],
  [/^(\w+ cannot represent [ \w-]*value): .*/s, '$1.'],
  [
    new RegExp(`^(Enum "\\w+" cannot represent non-\\w+ value): .*?(${SUGGESTION})?$`, 's'),
    '$1.$2',
  ],
  [
    new RegExp(`^Value ".*" (does not exist in "\\w+" enum\\.)(${SUGGESTION})?$`, 's'),
    'Value $1$2',
  ],
  [/^(Expected value of type "\w+" to (be an object|include required field "\w+")), .*/s, '$1.'],
  // After "Found" graphql prints the client's whole object. If that has "Did you mean" in it, it can't be told from a
  // suggestion, and this pattern does not match.
  [
    new RegExp(
      `${UNKNOWN_FIELD}( "\\w+")(?:\\.(${SUGGESTION}) F|, f)ound: (?!.* Did you mean ).*`,
      's',
    ),
    '$1$2.$3',
  ],
  [new RegExp(`${UNKNOWN_FIELD}.*`, 's'), '$1s.'],
  [/^(Expected value of type "\w+").*/s, '$1.'],
];

/** graphql's message about a value, without the value. Errors of our own scalars never have it. */
function withoutValue({ message, extensions }: GraphQLError): string {
  if (extensions['code'] === 'BAD_USER_INPUT') return message;
  const [pattern, replacement] = PATTERNS.find(([known]) => known.test(message)) ?? [
    /.*/s,
    'Not valid.',
  ];
  return message.replace(pattern, replacement);
}

/**
 * An error of `validateExecutionArgs` about a variable. Names of unknown input fields are left out too: the client
 * chose them.
 */
export function variableProblem({ message, nodes, originalError }: GraphQLError): GraphQLError {
  if (!(originalError instanceof GraphQLError)) return new GraphQLError(message, { nodes });
  const subject = message.slice(0, -originalError.message.length);
  const problem = withoutValue(originalError).replace(/ unknown field "\w+"\./, ' unknown fields.');
  return new GraphQLError(subject + problem, { nodes });
}

/** graphql's rule of the same name, with messages that name the argument and not the value. */
export function ValuesOfCorrectTypeRule(context: ValidationContext): ASTVisitor {
  let variable = '';

  function check(node: ValueNode): false {
    const type = node.kind === Kind.LIST ? context.getParentInputType() : context.getInputType();
    const argument = context.getArgument();
    const subject = argument
      ? `Argument "${String(argument)}" has invalid value`
      : `Variable "$${variable}" has invalid default value`;
    const onError = (error: GraphQLError, path: readonly (string | number)[]): void => {
      const at = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
      const message = `${subject}${at && ` at ${at}`}: ${withoutValue(error)}`;
      context.reportError(new GraphQLError(message, { nodes: error.nodes ?? nodeAt(node, path) }));
    };
    const { hideSuggestions } = context;
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

/** The node at the path. A single value may stand for a list, and its path then has no index. */
function nodeAt(node: ValueNode, path: readonly (string | number)[]): ValueNode {
  let found = node;
  for (const key of path) {
    if (found.kind === Kind.LIST) found = found.values[key as number] ?? found;
    else if (found.kind === Kind.OBJECT)
      found = found.fields.find(({ name }) => name.value === key)?.value ?? found;
  }
  return found;
}
