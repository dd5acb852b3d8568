import {
  type ASTVisitor,
  GraphQLError,
  type ValidationContext,
  type ValueNode,
  validateInputLiteral,
} from 'graphql';

/**
 * graphql's messages quote values, which may be patient data, or 200 kB long. A message begins with words and quoted
 * names, and the value comes after them.
 */
const BEFORE_VALUE = /^((?:[\w -]|"[^"]*")+)(?:[.,:].*)?$/s;

/** graphql's message about a value, without the value. Errors of our own scalars never have it. */
function withoutValue({ message, extensions }: GraphQLError): string {
  if (extensions['code'] === 'BAD_USER_INPUT') return message;
  const text = message.replace(/^Value ".*" does not exist/s, 'Value does not exist');
  return BEFORE_VALUE.test(text) ? text.replace(BEFORE_VALUE, '$1.') : 'Not valid.';
}

/**
 * The message of an error of `validateExecutionArgs` about a variable. Names of unknown input fields are left out too:
 * the client chose them, and with a quote in one the pattern above would not find the value.
 */
export function variableMessage({ message, originalError }: GraphQLError): string {
  if (!(originalError instanceof GraphQLError)) return message;
  const subject = message.slice(0, -originalError.message.length);
  return subject + withoutValue(originalError).replace(/ unknown field ".*/s, ' unknown fields.');
}

/** graphql's rule of the same name, with messages that name the argument and not the value. */
export function ValuesOfCorrectTypeRule(context: ValidationContext): ASTVisitor {
  function check(value: ValueNode, subject: string): void {
    const type = context.getInputType();
    const onError = (error: GraphQLError, path: readonly (string | number)[]): void => {
      const at = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
      const message = `${subject}${at && ` at ${at}`}: ${withoutValue(error)}`;
      context.reportError(new GraphQLError(message, { nodes: error.nodes ?? value }));
    };
    if (type) validateInputLiteral(value, type, onError, undefined, undefined, true);
  }

  return {
    Argument: ({ value }) =>
      check(value, `Argument "${String(context.getArgument())}" has invalid value`),
    VariableDefinition({ variable, defaultValue }) {
      if (defaultValue)
        check(defaultValue, `Variable "$${variable.name.value}" has invalid default value`);
    },
  };
}
