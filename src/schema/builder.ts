import SchemaBuilder, {
  type FieldMap,
  FieldRef,
  type InputType,
  type TypeParam,
} from '@pothos/core';
import { GraphQLError } from 'graphql';

import type { Connection } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import type * as Events from '../events/partner-event.ts';
import { whenLoaded } from '../loaded.ts';
import { attribute } from '../resolvers/records.ts';
import type { ListedRef, NodeOfType, NodeRef, NodeType } from '../resolvers/refs.ts';
import { calendarDateOf } from '../rest/lists.ts';
import { SEALED_CHARACTERS } from '../sealed-text.ts';
import type { Uuid } from '../uuid.ts';
import type { EventTypeNames } from './events.ts';

type Text = { Input: string; Output: string };

/** Types that are referenced by name, so that their files need not import each other. */
export const builder = new SchemaBuilder<{
  Context: Context;
  Objects: { [T in NodeType]: NodeOfType<T> } & {
    [T in ListedRef['type'] as `${T}Connection`]: Connection<NodeOfType<T>>;
  } & {
    [T in keyof EventTypeNames as EventTypeNames[T]]: Events.PartnerEvent & { readonly type: T };
  };
  Interfaces: {
    Node: NodeRef;
    PartnerEvent: Events.PartnerEvent;
    SessionEvent: Events.SessionEvent;
    ProgressNoteEvent: Events.ProgressNoteEvent;
  };
  Scalars: Record<'ID' | 'Date' | 'DateTime' | 'URL' | 'EventCursor', Text> & {
    JSON: { Input: unknown; Output: unknown };
    UUID: { Input: Uuid; Output: Uuid };
  };
}>({});

type Types = typeof builder.$inferSchemaTypes;
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

/** Options of a nullable field or argument. */
export const optional = <const T>(type: T, description: string) => ({ type, description });

/** Options of a non-null field or argument: Pothos has `nullable` for the one and `required` for the other. */
export const required = <T extends TypeParam<Types> | InputType<Types>>(
  type: T,
  description: string,
) => ({ type, description, nullable: false as const, required: true as const });

/** Options that every `raw` field shares. */
export const RAW = optional('JSON', 'The whole record as the Partner API returned it.');

type Field = FieldMap[string];
/** An attribute of a record: its description or, if it is no nullable string, its options. */
type Attribute = string | AttributeOptions;
type AttributeOptions = ReturnType<typeof optional<TypeParam<Types>>> & {
  /** Makes the field's value of the Partner API's. */
  readonly convert?: (value: never, ctx: Context) => unknown;
};
type NodeFields<F, R extends NodeRef> = {
  readonly [K in keyof F]: K extends keyof NonNullable<R['record']> ? F[K] : Field;
};

/** Defines a type that implements Node. What is no field of Pothos is an attribute of the record. */
export const nodeType = <T extends NodeType, F extends Record<string, Field | Attribute>>(
  name: T,
  description: string,
  fieldsOf: (
    t: PothosSchemaTypes.ObjectFieldBuilder<Types, NodeOfType<T>>,
  ) => F & NodeFields<F, NodeOfType<T>>,
) =>
  builder.objectType(name, { description, interfaces: ['Node'] } as never, (t) => {
    const fields = Object.entries<Field | Attribute>(fieldsOf(t as never));
    const defined = fields.map(([field, given]) => [
      field,
      given instanceof FieldRef ? given : t.field(attributeField(field, given as Attribute)),
    ]);
    return Object.fromEntries(defined) as FieldMap;
  });

/** If the record is known by id alone, it is looked up first. */
function attributeField(name: string, given: Attribute) {
  const { convert, ...options }: AttributeOptions =
    typeof given === 'string' ? optional('String', given) : given;
  const read = attribute(name);
  const resolve = convert
    ? (ref: NodeRef, args: unknown, ctx: Context) =>
        whenLoaded(read(ref, args, ctx), (value) => convert(value as never, ctx))
    : read;
  return { ...options, extensions: { isAttribute: true }, resolve: resolve as never };
}

/** Values of an enum that the Partner API, and this gateway inside, spell in lower case. */
export const enumValues = <V extends string>(descriptions: Readonly<Record<V, string>>) =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([value, description]) => [
      value.toUpperCase(),
      { value, description },
    ]),
  ) as { [K in Uppercase<V>]: { value: Lowercase<K>; description: string } };

/** Reads an argument. The message never includes the value: a variable may hold patient data. */
const parseText = (expected: string, isValid: (text: string) => boolean) => (value: unknown) => {
  if (typeof value === 'string' && isValid(value)) return value;
  throw new GraphQLError(`Expected ${expected}, but got another value.`, {
    extensions: { code: 'BAD_USER_INPUT' },
  });
};

builder.scalarType('Date', {
  description: 'A calendar date, YYYY-MM-DD. Never shifted by a time zone.',
  parseValue: parseText('a date as YYYY-MM-DD', (text) => calendarDateOf(text) === text),
});
builder.scalarType('DateTime', { description: 'An instant, ISO 8601 with an offset.' });
builder.scalarType('JSON', { description: 'Any JSON value, passed on unchanged.' });
builder.scalarType('URL', { description: 'An absolute URL.' });
builder.scalarType('UUID', { description: 'A lower-case UUID.' });
builder.scalarType('EventCursor', {
  description:
    'An opaque position in the event log. Pass the last one you received as `after` to resume. Compare two cursors for equality only: their text has no order.',
  parseValue: parseText('a cursor of the event log', (text) => text.length <= SEALED_CHARACTERS),
});
