import { type ExecutionArgs, executeRootSelectionSet } from 'graphql';

import type { ExecutionContext } from '../context.ts';
import type { GatewayPlugin } from '../yoga.ts';

/**
 * Executes with graphql-js, on the arguments that were validated for the estimate already (`onExecute`). Its own
 * `execute` is the same function after the same validation.
 */
export function useExecution(): GatewayPlugin {
  return {
    onExecute: ({ setExecuteFn }) => setExecuteFn(execute),
  };
}

const execute = ({ contextValue }: ExecutionArgs) =>
  executeRootSelectionSet((contextValue as ExecutionContext).operation.args);
