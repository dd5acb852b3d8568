import { isAsyncIterable } from 'graphql-yoga';

import type { createOperationObserver } from '../../observability/observers.ts';
import type { ExecutionContext } from '../context.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** One line in the log and a handful of metrics for each operation that was executed, and no value of it (`onExecute`). */
export function useOperationLog({
  finished,
}: Pick<ReturnType<typeof createOperationObserver>, 'finished'>): GatewayPlugin {
  return {
    onExecute: () => ({
      onExecuteDone({ args, result }) {
        if (isAsyncIterable(result)) return;
        const { operation, usage } = args.contextValue as ExecutionContext;
        const { id, requestId, kind, name, startedAt } = operation;
        const codes = result.errors?.map(({ extensions }) => String(extensions['code'])) ?? [];
        const durationMs = performance.now() - startedAt;
        finished({ id, requestId, kind, name, durationMs, usage, codes });
      },
    }),
  };
}
