import { type GraphQLSchema, defaultFieldResolver, isObjectType } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';

import type { Context } from '../../context.ts';
import { isTracing } from '../../observability/tracing.ts';
import { priceOf } from '../../schema/estimate-calls.ts';
import type { ExecutionContext, GatewayPlugin } from '../yoga.ts';

/**
 * Ends an operation's span, which began with its context (`onExecute`), and gives every field that may cost upstream
 * calls one of its own.
 */
export function useTracing(schema: GraphQLSchema): GatewayPlugin {
  if (!isTracing()) return {};
  traceFields(schema);
  return {
    onExecute: () => ({
      onExecuteDone({ args, result }) {
        if (isAsyncIterable(result)) return;
        const { trace, usage } = args.contextValue as ExecutionContext;
        trace?.end(String(result.errors?.[0]?.extensions['code'] ?? 'ok'), usage.calls);
      },
    }),
  };
}

const traced = new WeakSet<GraphQLSchema>();

function traceFields(schema: GraphQLSchema): void {
  if (traced.has(schema)) return;
  traced.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!priceOf(field.extensions)) continue;
      const { resolve = defaultFieldResolver } = field;
      const name = `${type.name}.${field.name}`;
      field.resolve = (parent: unknown, args, ctx: Context, info) => {
        const end = ctx.trace?.field(name);
        let value: unknown;
        try {
          value = resolve(parent, args, ctx, info);
          return value;
        } finally {
          if (end && value instanceof Promise) void value.then(end, end);
          else end?.();
        }
      };
    }
  }
}
