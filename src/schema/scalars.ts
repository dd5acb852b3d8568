import { GraphQLError, valueFromASTUntyped } from 'graphql';

import { MAX_SEALED_CHARACTERS } from '../sealed-text.ts';
import { toUuid } from '../uuid.ts';
import { builder } from './builder.ts';

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

/** Never echoes the value: what was typed into a variable may be a patient's. */
const refuse = (wanted: string) =>
  new GraphQLError(`A ${wanted} was wanted, but something else came.`, {
    extensions: { code: 'BAD_USER_INPUT' },
  });

function isCalendarDate(text: string): boolean {
  return DATE.test(text) && new Date(`${text}T00:00:00Z`).getUTCDate() === Number(text.slice(8));
}

builder.scalarType('Date', {
  description: 'A calendar date, YYYY-MM-DD. Never shifted by a time zone.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string' && isCalendarDate(value)) return value;
    throw refuse('date as YYYY-MM-DD');
  },
});

builder.scalarType('DateTime', {
  description: 'An instant, ISO 8601 with an offset.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return value;
    throw refuse('date and time as ISO 8601');
  },
});

builder.scalarType('JSON', {
  description: 'Any JSON value, passed through as the Partner API gave it.',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});

builder.scalarType('URL', {
  description: 'An absolute URL.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string' && URL.canParse(value)) return value;
    throw refuse('absolute URL');
  },
});

builder.scalarType('UUID', {
  description: 'A lower-case UUID.',
  serialize: (value) => value,
  parseValue: (value) => {
    const uuid = toUuid(value);
    if (uuid) return uuid;
    throw refuse('UUID');
  },
});

builder.scalarType('EventCursor', {
  description:
    'An opaque position in the event log. The log is ordered, the text of its cursors is not: compare them for equality only. Hand the last one you received to `after` to resume.',
  serialize: (value) => value,
  parseValue: (value) => {
    if (typeof value === 'string' && value.length <= MAX_SEALED_CHARACTERS) return value;
    throw refuse('cursor of the event log');
  },
});
