import type { ExecutionResult } from 'graphql';

import { createContext } from '../../context.ts';
import { createUsage } from '../../rest/partner.ts';
import type { GatewayParts } from '../gateway.ts';
import type { ExecutionContext, GatewayContext, GatewayPlugin } from '../yoga.ts';

/**
 * Creates the context for the operation's resolvers, with new loaders (`onExecute`, `onSubscribe`). When the operation
 * times out or its client disconnects, its reads are aborted; a write that was sent is not. Over WebSocket,
 * `SocketOperation` notices the disconnection.
 *
 * Audits which records an executed operation returned or denied, and writes one log line and some metrics for it, without
 * variables or results, before the response is sent (`onExecuteDone`).
 */
export function useOperation({ services, config, observer }: GatewayParts): GatewayPlugin {
  /** Returns a function to be called when the operation is answered. */
  function createResolverContext(context: GatewayContext): () => void {
    const { viewer, operation, requestId, traceHeaders, res } = context;
    const usage = createUsage(
      { maxCalls: config.operation.maxUpstreamCalls, traceHeaders, requestId },
      operation!.kind === 'mutation' ? 'write' : 'read',
    );
    context.resolverContext = createContext(services, viewer!, usage, operation!);
    const abortReads = () => usage.end();
    const timer = setTimeout(abortReads, config.limits.operationMs);
    res?.once('close', abortReads);
    // The client may have left while its token was verified.
    if (res?.closed) abortReads();
    return () => {
      clearTimeout(timer);
      res?.off('close', abortReads);
    };
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
      const release = createResolverContext(context);
      return {
        onExecuteDone({ result }) {
          release();
          auditAndLog(context, result as ExecutionResult);
        },
      };
    },
    onSubscribe: ({ context }) => ({ onSubscribeResult: createResolverContext(context) }),
  };
}
