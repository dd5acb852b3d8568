import type { DocumentNode, FieldNode, ValidationRule, ValueNode } from 'graphql';
import {
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  ValuesOfCorrectTypeRule as GraphQLValuesOfCorrectTypeRule,
  parse,
  specifiedRules,
  validate,
  validateInputLiteral,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import type { Config, Limits } from '../../config.ts';
import { schema } from '../../schema/schema.ts';
import { documentRejected, operationRejected } from '../client-error.ts';
import type { GatewayPlugin } from '../gateway.ts';

export const MAX_REPORTED_ERRORS = 5;
/** graphql adds one more error to as many, which says that there are too many. */
export const firstErrors = <T>(errors: readonly T[]) => errors.slice(0, MAX_REPORTED_ERRORS);

/**
 * Rejects documents with too many characters, lines, tokens, levels, aliases, root fields or directives (`onParse`), and
 * invalid ones (`onValidate`). Valid ones are cached, within a limit in bytes.
 */
export function useDocumentLimits({ limits, http }: Config): GatewayPlugin {
  const cache = new LRUCache<string, DocumentNode>({
    maxSize: 12 * 2 ** 20,
    // In bytes. The syntax tree takes most of the memory.
    sizeCalculation: ({ tokenCount = 0 }, { length }) => 500 * (1 + tokenCount) + 4 * length,
    // A document may have the name of a patient in it.
    ttl: 3_600_000,
    ttlAutopurge: true,
  });

  return {
    onParse({ params: { source }, setParsedDocument }) {
      const text = String(source);
      setParsedDocument(cache.get(text) ?? parseWithinLimits(text, limits));
    },
    onValidate({ context, params: { documentAST }, setResult }) {
      const { query } = context.params;
      const isValid = cache.has(query!);
      const problems = isValid ? [] : documentProblems(documentAST, http.graphiql);
      if (!isValid && problems.length === 0) cache.set(query!, documentAST);
      setResult(problems);
    },
  };
}

/** Throws a `ClientError` if the document has a syntax error or is too large. */
export function parseWithinLimits(source: string, limits: Limits): DocumentNode {
  const { length } = source;
  const { documentCharacters: max, documentTokens: maxLines } = limits;
  if (length > max)
    throw tooLarge(`A document may have at most ${max} characters, but this one has ${length}.`);
  // graphql counts the lines for the location of each error, of which there may be thousands.
  const lines = source.split(/\r\n|[\n\r]/).length;
  if (lines > maxLines)
    throw tooLarge(`A document may have at most ${maxLines} lines, but this one has ${lines}.`);
  const document = parseTokens(source, limits.documentTokens);
  const shapeOf = createShapeOf(document);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const shape = shapeOf(definition);
    const [measure, name] = MEASURES.find(([each]) => shape[each] > limits[each]) ?? [];
    if (measure)
      throw tooLarge(
        `An operation may have at most ${limits[measure]} ${name}, and this one has more.`,
      );
  }
  return document;
}

const tooLarge = (message: string) => operationRejected('BAD_USER_INPUT', message);

/** The parser quotes the unexpected token, or `.5` as "0.5": names may be returned to the client, values may not. */
const QUOTED_VALUE = /\b(BlockString|String|Int|Float|escape sequence):? ".*"|, did you mean "0.*/s;

function parseTokens(source: string, maxTokens: number): DocumentNode {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw documentRejected(error, error.message.replace(QUOTED_VALUE, '$1'));
  }
}

/** A document's errors. If introspection is off, they have no suggestions, which would reveal names of the schema. */
export function documentProblems(document: DocumentNode, introspection: boolean) {
  const rules = introspection ? RULES : [...RULES, NoSchemaIntrospectionCustomRule];
  const options = { maxErrors: MAX_REPORTED_ERRORS, hideSuggestions: !introspection };
  const problems = firstErrors(validate(schema, document, rules, options));
  // One of graphql's rules ignores `hideSuggestions`.
  const suggestion = introspection ? '' : / Did you mean .*$/;
  return problems.map((error) => documentRejected(error, error.message.replace(suggestion, '')));
}

/** graphql's messages quote values, which may be patient data, or 200 kB long, after words and quoted names. */
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
const ValuesOfCorrectTypeRule: ValidationRule = (context) => {
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
};
const RULES = specifiedRules.map((rule) =>
  rule === GraphQLValuesOfCorrectTypeRule ? ValuesOfCorrectTypeRule : rule,
);

/** The counts of an operation with its fragments expanded. */
const EMPTY_SHAPE = { selections: 0, depth: 0, aliases: 0, directives: 0, rootFields: 0 };
type Shape = Readonly<typeof EMPTY_SHAPE>;

const MEASURES = [
  ['depth', 'levels of fields'],
  ['aliases', 'aliases'],
  ['rootFields', 'root fields'],
  ['directives', 'directives'],
] as const;

type NodeWithSelections = Pick<FieldNode, 'selectionSet' | 'directives'>;

/** Measures the operations of a document, and each fragment only once: expanding them could take exponential time. */
export function createShapeOf({ definitions }: DocumentNode) {
  const fragments = new Map(
    definitions
      .filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const measured = new Map<string, Shape>();

  function ofFragment(name: string): Shape {
    const known = measured.get(name);
    if (known) return known;
    // Where it spreads itself, it counts as empty: such a document is not valid.
    measured.set(name, EMPTY_SHAPE);
    const shape = ofSelections(fragments.get(name) ?? {});
    measured.set(name, shape);
    return shape;
  }

  function ofSelections({ selectionSet, directives: own = [] }: NodeWithSelections): Shape {
    const shape = { ...EMPTY_SHAPE, directives: own.length };
    for (const selection of selectionSet?.selections ?? []) {
      const isField = selection.kind === Kind.FIELD;
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const inner = isSpread ? ofFragment(selection.name.value) : ofSelections(selection);
      shape.selections += inner.selections + 1;
      shape.depth = Math.max(shape.depth, inner.depth + (isField ? 1 : 0));
      shape.aliases += inner.aliases + (isField && selection.alias ? 1 : 0);
      shape.directives += inner.directives + (isSpread ? (selection.directives?.length ?? 0) : 0);
      shape.rootFields += isField ? 1 : inner.rootFields;
    }
    return shape;
  }

  return ofSelections;
}
