import SchemaBuilder, { FieldRef, type ShapeFromTypeParam, type TypeParam } from '@pothos/core';
import { GraphQLError, type GraphQLResolveInfo } from 'graphql';

import type { Connection, Edge, PageInfo } from '../connection/connection.ts';
import type { Context } from '../context.ts';
import type * as Events from '../events/partner-event.ts';
import type { EventWindow } from '../resolvers/event-log.ts';
import type { Assigned, Minted, NoteChange } from '../resolvers/mutations.ts';
import { attribute } from '../resolvers/records.ts';
import type { ListedRef, NodeOfType, NodeRef, NodeType } from '../resolvers/refs.ts';
import { calendarDateOf } from '../rest/lists.ts';
import type { MdmRecord, ScoreRecord, TranscriptRecord } from '../rest/records.ts';
import { SEALED_CHARACTERS } from '../sealed-text.ts';
import type { Uuid } from '../uuid.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { EventTypeNames } from './events.ts';
import { isNodeType } from './global-id.ts';

type Text = { Input: string; Output: string };

/** Types that are referenced by name, so that their files need not import each other. */
export const builder = new SchemaBuilder<{
  Context: Context;
  Objects: { [T in NodeType]: NodeOfType<T> } & {
    [T in ListedRef['type'] as `${T}Connection`]: Connection<NodeOfType<T>>;
  } & {
    [T in ListedRef['type'] as `${T}Edge`]: Edge<NodeOfType<T>>;
  } & {
    [T in Events.EventType as EventTypeNames[T]]: Events.PartnerEvent & { readonly type: T };
  } & {
    PageInfo: PageInfo;
    TranscriptItem: TranscriptRecord['items'][number];
    ProblemAddressed: MdmRecord['problemsAddressed'][number];
    AssessmentAnswer: ScoreRecord['answers'][number];
    Viewer: Viewer;
    Partner: object;
    PartnerEventEdge: EventWindow['edges'][number];
    PartnerEventConnection: EventWindow;
    ProgressNoteChange: NoteChange;
    SecondaryCliniciansAssigned: Assigned;
    ClinicianTokens: Minted;
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
type Objects = Types['Objects'];
export type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

type Resolve = (parent: never, args: never, ctx: Context, info: GraphQLResolveInfo) => unknown;

/** Options of a nullable field or argument. */
export const optional = <const T, R extends Resolve | undefined = undefined>(
  type: T,
  description: string,
  resolve?: R,
) => ({ type, description, resolve: resolve as R });

/** Options of a non-null field or argument: Pothos has `nullable` for the one and `required` for the other. */
export const required = <const T, R extends Resolve | undefined = undefined>(
  ...options: Parameters<typeof optional<T, R>>
) => ({ ...optional(...options), nullable: false as const, required: true as const });

export const RAW = optional('JSON', 'The whole record as the Partner API returned it.');

type Field = FieldRef<Types>;
/** A Pothos field, or its options. For a nullable string, the description is enough. */
type FieldSpec = Field | string | { readonly type: TypeParam<Types>; readonly description: string };
type SpecType<G> = G extends { readonly type: infer T extends TypeParam<Types> }
  ? ShapeFromTypeParam<Types, T, G extends { readonly nullable: false } ? false : true>
  : string | null | undefined;
type Properties<N extends keyof Objects> = N extends NodeType
  ? NonNullable<NodeOfType<N>['record']>
  : Objects[N];
type ValueOf<G, K, N extends keyof Objects> = G extends {
  readonly resolve: (...args: [Objects[N], never, Context, GraphQLResolveInfo]) => infer V;
}
  ? Awaited<V>
  : K extends keyof Properties<N>
    ? Properties<N>[K]
    : symbol;

/** Defines an object type. A field without a resolver returns the property of its name: for a node, its record's. */
export const objectType = <N extends keyof Objects, F extends Record<string, FieldSpec>>(
  name: N,
  description: string,
  fieldsOf: (t: PothosSchemaTypes.ObjectFieldBuilder<Types, Objects[N]>) => F & {
    readonly [K in keyof F]: ValueOf<F[K], K, N> extends SpecType<F[K]> ? F[K] : Field;
  },
) => {
  const interfaces = isNodeType(name) ? ['Node'] : [];
  builder.objectType(name, { description, interfaces } as never, (t) => {
    const toField = (field: string, spec: FieldSpec) => {
      if (spec instanceof FieldRef) return spec;
      const options = typeof spec === 'string' ? optional('String', spec) : spec;
      if ('resolve' in options && options.resolve) return t.field(options as never);
      if (!isNodeType(name)) return t.expose(field as never, options);
      const resolve = attribute(field as never);
      return t.field({ ...options, extensions: { isAttribute: true }, resolve } as never);
    };
    const fields = Object.entries<FieldSpec>(fieldsOf(t as never));
    return Object.fromEntries(fields.map(([field, spec]) => [field, toField(field, spec)]));
  });
};

/** Values of an enum. The Partner API and the rest of this gateway spell them in lower case. */
export const enumValues = <V extends string>(descriptions: Readonly<Record<V, string>>) =>
  Object.fromEntries(
    Object.entries<string>(descriptions).map(([value, description]) => [
      value.toUpperCase(),
      { value, description },
    ]),
  ) as Record<string, { value: V; description: string }>;

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
