import type { ExecutionResult } from 'graphql';

import { createContext } from '../../context.ts';
import { createUsage } from '../../rest/partner.ts';
import type { ExecutionContext, GatewayContext, GatewayParts, GatewayPlugin } from '../gateway.ts';

/**
 * Creates the context for the operation's resolvers, with new loaders (`onExecute`, `onSubscribe`). When the operation
 * times out, or its client leaves (`Gateway.abortReads`), its reads are aborted; a write that was sent is not.
 *
 * Audits which records an executed operation returned or denied, and writes one log line and some metrics for it, without
 * variables or results, before the response is sent (`onExecuteDone`).
 */
export function useOperation(parts: GatewayParts): GatewayPlugin {
  const { services, config, observer, runningContexts } = parts;
  const { maxUpstreamCalls: maxCalls } = config.operation;
  const { operationMs } = config.limits;
  /** It runs while an operation does. A timer for each would take 4 % of the CPU of a query for a note. */
  let timer: NodeJS.Timeout | undefined;

  function endLateOperations(): void {
    timer = runningContexts.length > 0 ? timer?.refresh() : undefined;
    const latest = performance.now() - operationMs;
    for (const { operation, resolverContext } of runningContexts)
      if (operation && operation.startedAt <= latest) resolverContext?.usage.end();
  }

  function createResolverContext({ context }: { readonly context: GatewayContext }): void {
    const { viewer, operation, requestId, res } = context;
    const priority = operation!.kind === 'mutation' ? 'write' : 'read';
    const usage = createUsage({ maxCalls, requestId, priority });
    context.resolverContext = createContext(services, viewer!, usage, operation!);
    timer ??= setTimeout(endLateOperations, Math.min(250, operationMs / 8)).unref();
    // The client may have left while its token was verified.
    if (res?.closed) usage.end();
  }

  function auditAndLog(context: GatewayContext, { errors }: ExecutionResult): void {
    const { operation, requestId, resolverContext, res, isAbandoned } = context as ExecutionContext;
    resolverContext.audit?.finish();
    const { id, kind, name, startedAt } = operation;
    const code = (errors?.[0]?.extensions['code'] ?? 'ok') as string;
    // Nothing took too long if its reads were aborted because the client has left.
    const outcome = code === 'TIMEOUT' && (isAbandoned || res?.closed) ? 'client left' : code;
    const durationMs = performance.now() - startedAt;
    observer.finished({ id, requestId, kind, name, durationMs, outcome }, resolverContext.usage);
  }

  return {
    onExecute({ context }) {
      createResolverContext({ context });
      return { onExecuteDone: ({ result }) => auditAndLog(context, result as ExecutionResult) };
    },
    onSubscribe: createResolverContext,
  };
}
