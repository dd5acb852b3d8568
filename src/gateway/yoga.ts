import { createYoga } from 'graphql-yoga';

import { schema } from '../schema/schema.ts';
import type { GatewayContext, GatewayParts, GatewayYoga, HttpContext } from './gateway.ts';
import { useDocumentLimits } from './plugins/use-document-limits.ts';
import { useErrorMasking } from './plugins/use-error-masking.ts';
import { useExecution } from './plugins/use-execution.ts';
import { createHttpRequests } from './plugins/use-http-requests.ts';
import { useOperation } from './plugins/use-operation.ts';
import { useSubscriptions } from './plugins/use-subscriptions.ts';
import { useTracing } from './plugins/use-tracing.ts';
import { useUpstreamCost } from './plugins/use-upstream-cost.ts';
import { useViewer } from './plugins/use-viewer.ts';
import type { Subscriptions } from './subscriptions/subscriptions.ts';

/**
 * Yoga with our plugins. Hooks of one phase run in the order of the list: `onRequest` (viewer, HTTP), `onParse` and
 * `onValidate` (document limits), `onExecute` (cost, operation, tracing, execution), `onExecuteDone` (cost, masking,
 * operation, tracing) and `onSubscribe` (cost, operation, subscriptions). Delivered events pass through none of them.
 */
export function createGatewayYoga(parts: GatewayParts, subscriptions: Subscriptions) {
  const { config, maskError } = parts;
  const requests = createHttpRequests(parts, () => yoga);
  const yoga: GatewayYoga = createYoga<HttpContext, GatewayContext>({
    schema,
    graphiql: false,
    logging: false,
    parserAndValidationCache: false,
    // Yoga also passes a message and a flag, and the second parameter of ours is a request id.
    maskedErrors: { maskError: (error) => maskError(error) },
    cors: parts.origins.cors,
    plugins: [
      useViewer(parts.authenticate),
      requests.plugin,
      useDocumentLimits(config),
      useUpstreamCost(parts),
      useErrorMasking(parts),
      useOperation(parts),
      useTracing(),
      useExecution(),
      useSubscriptions(parts, subscriptions),
    ],
  });
  return { yoga, answerJson: requests.answerJson };
}
