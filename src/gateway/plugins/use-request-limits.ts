import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import { httpErrorIn, jsonResponse } from '../json-response.ts';
import { acceptedBy, parseParams, readBody, requestProblem } from '../request.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** A socket that is cut at once may lose the answer. */
const LINGER_MS = 250;

export interface RequestLimits {
  readonly bodyBytes: number;
  readonly onRejected: (code: string) => void;
}

/**
 * Checks method, accepted types, content type and length before anything else (`onRequest`), and reads bodies from
 * node's own stream, with a limit and as strict UTF-8 (`onRequestParse`). No response may be stored (`onResponse`).
 */
export function useRequestLimits({ bodyBytes, onRejected }: RequestLimits): GatewayPlugin {
  return {
    onRequest({ serverContext, endResponse, fetchAPI }) {
      const { req } = serverContext;
      serverContext.transport = acceptedBy(req.headers.accept).json ? 'http' : 'sse';
      const problem = requestProblem(req, bodyBytes);
      if (problem) endResponse(jsonResponse({ errors: [problem] }, req, fetchAPI));
    },
    onRequestParse({ serverContext, setRequestParser }) {
      setRequestParser(async () => ({
        ...parseParams(await bodyOf(serverContext.req, bodyBytes)),
      }));
    },
    onResultProcess({ result, serverContext, setResultProcessor }) {
      // A client that takes nothing but events still gets an error of HTTP as JSON.
      if (!('errors' in result) || !httpErrorIn(result)) return;
      setResultProcessor(
        (rejected, fetchAPI) =>
          jsonResponse(rejected as ExecutionResult, serverContext.req, fetchAPI),
        'application/json',
      );
    },
    onResponse({ response, serverContext }) {
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      if (isStream) response.headers.set('x-accel-buffering', 'no');
      if (response.headers.get('cache-control') !== 'no-store') {
        response.headers.delete('Cache-Control');
        response.headers.set('cache-control', 'no-store');
      }
      if (response.status < 400) return;
      onRejected(response.status === 401 ? 'UNAUTHENTICATED' : 'BAD_USER_INPUT');
      if (response.status === 413) closeAfter(serverContext.res, response);
    },
  };
}

const bodies = new WeakMap<IncomingMessage, Promise<string>>();

/** Read once, whoever asks for it. */
export function bodyOf(req: IncomingMessage, maxBytes: number): Promise<string> {
  const body = bodies.get(req) ?? readBody(req, maxBytes);
  bodies.set(req, body);
  return body;
}

/** What is left of the body is not worth reading. */
function closeAfter(res: ServerResponse, { headers }: Response): void {
  headers.set('connection', 'close');
  res.once('finish', () => setTimeout(() => res.req.socket.destroy(), LINGER_MS).unref());
}
