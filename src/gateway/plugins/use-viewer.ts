import type { Loaded } from '../../loaded.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import { requestRejected } from '../client-error.ts';
import { jsonResponse } from '../json-response.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** Who asks over this connection. Rejects without a valid token. */
export type ViewerOf = (connection: object, authorization: string | undefined) => Loaded<Viewer>;

/**
 * Authenticates each HTTP request before its body is read (`onRequest`), and puts the viewer into the context. Over
 * WebSocket the connection has done so already.
 */
export function useViewer(viewerOf: ViewerOf): GatewayPlugin {
  return {
    onRequest({ serverContext, endResponse, fetchAPI }) {
      const { req } = serverContext;
      const viewer = viewerOf(req.socket, req.headers.authorization);
      if (!(viewer instanceof Promise)) {
        serverContext.requester = viewer;
        return;
      }
      return viewer.then(
        (known) => void (serverContext.requester = known),
        (error: unknown) => {
          if (!isUnauthenticated(error)) throw error;
          const errors = [requestRejected(401, error.message, 'UNAUTHENTICATED')];
          endResponse(jsonResponse({ errors }, serverContext, fetchAPI));
        },
      );
    },
  };
}

export const isUnauthenticated = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && error.code === 'UNAUTHENTICATED';
