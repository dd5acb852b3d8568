import {
  type DocumentNode,
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { documentRejected, operationRejected } from '../client-error.ts';
import type { GatewayPlugin } from '../yoga.ts';
import { type ShapeLimits, shapeProblem } from './document-shape.ts';

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
const SHOWN_ERRORS = 5;

/**
 * Rejects documents that are too long, too deep or too wide (`onParse`) or not valid (`onValidate`). Valid ones are
 * cached, within a bound in bytes; others are not, since they would cost memory and nobody sends them twice.
 */
export function useDocumentLimits(options: DocumentOptions): GatewayPlugin {
  const { limits, introspection } = options;
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const cache = new LRUCache<string, DocumentNode>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ tokenCount = 0 }, source) =>
      BYTES_A_TOKEN * (1 + tokenCount) + BYTES_A_CHARACTER * source.length,
  });
  const valid = new WeakSet<DocumentNode>();

  function parseWithinLimits(source: string): DocumentNode {
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

  return {
    onParse({ params: { source }, setParsedDocument, setParseFn }) {
      const known = cache.get(String(source));
      if (known) {
        setParsedDocument(known);
        return;
      }
      setParseFn(parseWithinLimits);
    },
    onValidate({ params: { documentAST }, setResult, setValidationFn }) {
      if (valid.has(documentAST)) {
        setResult([]);
        return;
      }
      setValidationFn((schema: Parameters<typeof validate>[0], document: DocumentNode) =>
        validate(schema, document, rules, { maxErrors: SHOWN_ERRORS, hideSuggestions: true }),
      );
      return ({ result, setResult: replace, context }) => {
        if (result.length === 0) {
          valid.add(documentAST);
          cache.set(context.params.query!, documentAST);
          return;
        }
        // graphql adds one more, to say that there are too many.
        replace(result.slice(0, SHOWN_ERRORS).map(documentRejected));
      };
    },
  };
}

function parseTokens(source: string, maxTokens: number): DocumentNode {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? documentRejected(error) : error;
  }
}

const tooLarge = (message: string) => operationRejected('BAD_USER_INPUT', message);
