import { CodedError } from '../../errors.ts';
import type { Authenticate } from '../../viewer/authenticate.ts';
import type { GatewayPlugin } from '../yoga.ts';

/**
 * Authenticates each HTTP request before its body is read, and puts the viewer, or the error, into the context
 * (`onRequest`). WebSocket connections are authenticated when they are initialized.
 */
export function useViewer(authenticate: Authenticate): GatewayPlugin {
  return {
    async onRequest({ serverContext }) {
      try {
        serverContext.viewer = await authenticate(serverContext.req.headers.authorization);
      } catch (error) {
        if (!(error instanceof CodedError)) throw error;
        serverContext.authError = error;
      }
    },
  };
}
