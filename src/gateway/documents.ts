import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';

import { type ShapeLimits, shapeProblem } from './document-shape.ts';
import { withoutValues } from './masking.ts';
import { type Refusal, isRefusal, refuse, refuseWith } from './refusal.ts';

export interface DocumentLimits extends ShapeLimits {
  readonly documentCharacters: number;
  readonly documentTokens: number;
}

/** By tokens above all: a field with its plan takes some 500 bytes, and needs two characters of source. */
const REMEMBERED_BYTES = 24 * 1024 * 1024;
const BYTES_A_TOKEN = 500;
const BYTES_A_CHARACTER = 4;
const SHOWN_ERRORS = 5;

export type Documents = (source: string) => DocumentNode | Refusal;

/** Parsed and valid documents. Those that are refused are not kept: they would cost memory, and nobody returns. */
export function createDocuments(
  schema: GraphQLSchema,
  limits: DocumentLimits,
  introspection: boolean,
): Documents {
  const rules = introspection
    ? specifiedRules
    : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const remembered = new LRUCache<string, DocumentNode>({
    max: 1_000,
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ tokenCount = 0 }, source) =>
      BYTES_A_TOKEN * (1 + tokenCount) + BYTES_A_CHARACTER * source.length,
  });

  const read = (source: string): DocumentNode | Refusal => {
    if (source.length > limits.documentCharacters) {
      return refuse(
        'BAD_USER_INPUT',
        `A document may have at most ${limits.documentCharacters} characters, but this one has ${source.length}.`,
      );
    }
    const document = parsed(source, limits.documentTokens);
    if (isRefusal(document)) return document;
    const problem = shapeProblem(document, limits);
    if (problem) return refuse('BAD_USER_INPUT', problem);
    const errors = validate(schema, document, rules, {
      maxErrors: SHOWN_ERRORS,
      hideSuggestions: true,
    });
    return errors.length > 0 ? refuseWith(errors.map(spokenValidationError)) : document;
  };

  return (source) => {
    const known = remembered.get(source);
    if (known) return known;
    const document = read(source);
    if (!isRefusal(document)) remembered.set(source, document);
    return document;
  };
}

function parsed(source: string, maxTokens: number): DocumentNode | Refusal {
  try {
    return parse(source, { maxTokens });
  } catch (error) {
    if (error instanceof GraphQLError) return refuseWith([spokenValidationError(error)]);
    throw error;
  }
}

export function spokenValidationError({ message, locations }: GraphQLError) {
  return {
    message: withoutValues(message),
    ...(locations && { locations }),
    extensions: { code: 'BAD_USER_INPUT' },
  };
}
