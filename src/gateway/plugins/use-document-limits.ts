import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  ValuesOfCorrectTypeRule as QuotingRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { type ClientError, documentRejected, operationRejected } from '../client-error.ts';
import type { GatewayPlugin } from '../yoga.ts';
import { type ShapeLimits, shapeProblem } from './document-shape.ts';
import { ValuesOfCorrectTypeRule } from './input-values.ts';

export interface DocumentLimits extends ShapeLimits {
  readonly documentCharacters: number;
  readonly documentTokens: number;
}

export interface DocumentOptions {
  readonly limits: DocumentLimits;
  readonly introspection: boolean;
}

/** Mostly for the syntax tree, which takes some 500 bytes a token. */
const CACHE_BYTES = 12 * 1024 * 1024;
const BYTES_A_TOKEN = 500;
const BYTES_A_CHARACTER = 4;
export const SHOWN_ERRORS = 5;

/**
 * Rejects documents that are too long, too deep or too wide (`onParse`) or not valid (`onValidate`). Valid ones are
 * cached, within a bound in bytes; others are not, since they would cost memory and nobody sends them twice.
 */
export function useDocumentLimits(options: DocumentOptions): GatewayPlugin {
  const { limits, introspection } = options;
  const cache = new LRUCache<string, DocumentNode>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ tokenCount = 0 }, source) =>
      BYTES_A_TOKEN * (1 + tokenCount) + BYTES_A_CHARACTER * source.length,
  });
  const valid = new WeakSet<DocumentNode>();

  return {
    onParse({ params: { source }, setParsedDocument, setParseFn }) {
      const known = cache.get(String(source));
      if (known) {
        setParsedDocument(known);
        return;
      }
      setParseFn((text: string) => parseWithinLimits(text, limits));
    },
    onValidate({ params: { documentAST }, setResult, setValidationFn }) {
      if (valid.has(documentAST)) {
        setResult([]);
        return;
      }
      setValidationFn((schema: GraphQLSchema, document: DocumentNode) =>
        documentProblems(schema, document, introspection),
      );
      return ({ result, context }) => {
        if (result.length > 0) return;
        valid.add(documentAST);
        cache.set(context.params.query!, documentAST);
      };
    },
  };
}

/** Throws what a client may read if the document is not one, or too large. */
export function parseWithinLimits(source: string, limits: DocumentLimits): DocumentNode {
  const { length } = source;
  const most = limits.documentCharacters;
  if (length > most) {
    throw tooLarge(`A document may have at most ${most} characters, but this one has ${length}.`);
  }
  const document = parseTokens(source, limits.documentTokens);
  const problem = shapeProblem(document, limits);
  if (problem) throw tooLarge(problem);
  return document;
}

function parseTokens(source: string, maxTokens: number): DocumentNode {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const { source: where, positions } = error;
    // The parser quotes the token that it did not expect: names may be told, values may not.
    const message = error.message.replace(/\b(BlockString|String|Int|Float) ".*"/s, '$1');
    throw documentRejected(new GraphQLError(message, { source: where, positions }));
  }
}

const RULES = specifiedRules.map((rule) => (rule === QuotingRule ? ValuesOfCorrectTypeRule : rule));

/** Where introspection is off, suggestions would tell what it doesn't. */
export function documentProblems(
  schema: GraphQLSchema,
  document: DocumentNode,
  introspection: boolean,
): readonly ClientError[] {
  const rules = introspection ? RULES : [...RULES, NoSchemaIntrospectionCustomRule];
  const options = { maxErrors: SHOWN_ERRORS, hideSuggestions: !introspection };
  // graphql adds one more, to say that there are too many.
  const problems = validate(schema, document, rules, options).slice(0, SHOWN_ERRORS);
  return problems.map(({ message, source, positions }) => {
    // One of graphql's rules does not know of `hideSuggestions`.
    const told = introspection ? message : message.replace(/ Did you mean .*$/, '');
    return documentRejected(new GraphQLError(told, { source, positions }));
  });
}

const tooLarge = (message: string) => operationRejected('BAD_USER_INPUT', message);
