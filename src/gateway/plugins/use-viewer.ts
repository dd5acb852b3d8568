import type { CodedError } from '../../errors.ts';
import type { Authenticate } from '../../viewer/authenticate.ts';
import type { GatewayPlugin, HttpContext } from '../gateway.ts';

/** Authenticates HTTP requests in `onRequest`, if `answerJson` has not. WebSockets are authenticated when initialized. */
export const useViewer = (authenticate: Authenticate): GatewayPlugin => ({
  onRequest: ({ serverContext }) => addViewer(serverContext, authenticate),
});

/** Puts the viewer, or the error, into the context. Called before the body is read. */
export async function addViewer(context: HttpContext, authenticate: Authenticate): Promise<void> {
  try {
    context.viewer ??= await authenticate(context.res.req.headers.authorization);
  } catch (error) {
    context.authError = error as CodedError;
  }
}
