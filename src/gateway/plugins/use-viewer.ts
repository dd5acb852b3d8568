import { CodedError } from '../../errors.ts';
import type { Authenticate } from '../../viewer/authenticate.ts';
import type { GatewayPlugin, HttpContext } from '../yoga.ts';

/**
 * Authenticates each HTTP request before its body is read, and puts the viewer, or the error, into the context
 * (`onRequest`). WebSocket connections are authenticated when they are initialized.
 */
export function useViewer(authenticate: Authenticate): GatewayPlugin {
  return {
    onRequest: ({ serverContext }) => addViewer(serverContext, authenticate),
  };
}

export async function addViewer(context: HttpContext, authenticate: Authenticate): Promise<void> {
  try {
    context.viewer = await authenticate(context.req.headers.authorization);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    context.authError = error;
  }
}
