import SchemaBuilder, { type InputType, type TypeParam } from '@pothos/core';
import { GraphQLError, valueFromASTUntyped } from 'graphql';

import type { Context } from '../context.ts';
import { MAX_SEALED_CHARACTERS } from '../sealed-text.ts';
import { type Uuid, toUuid } from '../uuid.ts';

type TextScalars = {
  Date: { Input: string; Output: string };
  DateTime: { Input: string; Output: string };
  URL: { Input: string; Output: string };
  EventCursor: { Input: string; Output: string };
};

export const builder = new SchemaBuilder<{
  Context: Context;
  Scalars: TextScalars & {
    ID: { Input: string; Output: string };
    JSON: { Input: unknown; Output: unknown };
    UUID: { Input: Uuid; Output: Uuid };
  };
}>({});

/** Options of a non-null field. */
export const required = <T extends TypeParam<typeof builder.$inferSchemaTypes>>(
  type: T,
  description: string,
) => ({ type, description, nullable: false as const });

/** Options of a non-null argument. */
export const requiredArg = <T extends InputType<typeof builder.$inferSchemaTypes>>(
  type: T,
  description: string,
) => ({ type, description, required: true as const });

/** Never includes the value: a variable may hold patient data. */
const invalidValue = (expected: string) =>
  new GraphQLError(`Expected ${expected}, but got another value.`, {
    extensions: { code: 'BAD_USER_INPUT' },
  });

const textScalar = (
  name: keyof TextScalars,
  description: string,
  expected: string,
  isValid: (text: string) => boolean,
) =>
  builder.scalarType(name, {
    description,
    serialize: (value) => value,
    parseValue: (value) => {
      if (typeof value === 'string' && isValid(value)) return value;
      throw invalidValue(expected);
    },
  });

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

// To `Date`, the 30th of February is the 2nd of March.
const isCalendarDate = (text: string): boolean =>
  DATE.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));

textScalar(
  'Date',
  'A calendar date, YYYY-MM-DD. Never shifted by a time zone.',
  'a date as YYYY-MM-DD',
  isCalendarDate,
);

textScalar(
  'DateTime',
  'An instant, ISO 8601 with an offset.',
  'a date and time as ISO 8601',
  (text) => !Number.isNaN(Date.parse(text)),
);

builder.scalarType('JSON', {
  description: 'Any JSON value, as the Partner API returned it.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

textScalar('URL', 'An absolute URL.', 'an absolute URL', (text) => URL.canParse(text));

builder.scalarType('UUID', {
  description: 'A lower-case UUID.',
  serialize: (value) => value,
  parseValue: (value) => {
    const uuid = toUuid(value);
    if (uuid) return uuid;
    throw invalidValue('a UUID');
  },
});

textScalar(
  'EventCursor',
  'An opaque position in the event log. Pass the last one you received as `after` to resume. Compare two cursors for equality only: their text has no order.',
  'a cursor of the event log',
  (text) => text.length <= MAX_SEALED_CHARACTERS,
);
