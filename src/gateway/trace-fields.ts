import { type GraphQLSchema, defaultFieldResolver, isObjectType } from 'graphql';

import type { Context } from '../context.ts';
import { isTracing } from '../observability/tracing.ts';
import { priceOf } from '../resolvers/price.ts';

const wrapped = new WeakSet<GraphQLSchema>();

/** Gives every field that may cost upstream calls a span of its own. Where nobody traces, nothing is wrapped. */
export function traceFields(schema: GraphQLSchema): void {
  if (!isTracing() || wrapped.has(schema)) return;
  wrapped.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!priceOf(field.extensions)) continue;
      const { resolve = defaultFieldResolver } = field;
      const name = `${type.name}.${field.name}`;
      field.resolve = (parent: unknown, args, ctx: Context, info) => {
        const end = ctx.trace?.field(name);
        const value: unknown = resolve(parent, args, ctx, info);
        if (value instanceof Promise) void value.then(end, end);
        else end?.();
        return value;
      };
    }
  }
}
