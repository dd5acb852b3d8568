import type { ExecutionContext } from '../context.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** Writes down which records an operation has shown, and which it has not, before its answer is sent (`onExecute`). */
export function useAudit(): GatewayPlugin {
  return {
    onExecute: () => ({
      onExecuteDone: ({ args }) => (args.contextValue as ExecutionContext).audit?.finish(),
    }),
  };
}
