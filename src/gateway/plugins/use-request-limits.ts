import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';

import { httpErrorIn, jsonResponse, rejectedCodeOf, withRequestId } from '../json-response.ts';
import { acceptedBy, parseParams, readBody, requestProblem } from '../request.ts';
import { requestIdOf } from '../request-id.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';
import type { GatewayPlugin } from '../yoga.ts';

/** A socket that is cut at once may lose the answer. */
const LINGER_MS = 250;

/** A request or an operation was not executed: its code, the status, and the request's id. */
export type OnRejected = (code: string, requestId?: string, status?: number) => void;

export interface RequestLimits {
  readonly bodyBytes: number;
  readonly trusted: TrustedDocuments | undefined;
  readonly onRejected: OnRejected;
}

/**
 * Checks method, accepted types, content type and length before anything else (`onRequest`), and reads bodies from
 * node's own stream, with a limit and as strict UTF-8 (`onRequestParse`). Errors name the request (`onResultProcess`).
 * Rejected requests are reported, and no response may be stored (`onResponse`).
 */
export function useRequestLimits({ bodyBytes, trusted, onRejected }: RequestLimits): GatewayPlugin {
  return {
    onRequest({ serverContext, endResponse, fetchAPI }) {
      const { req, res } = serverContext;
      serverContext.requestId = requestIdOf(res);
      serverContext.transport = acceptedBy(req.headers.accept).json ? 'http' : 'sse';
      const problem = requestProblem(req, bodyBytes);
      if (problem) endResponse(jsonResponse({ errors: [problem] }, serverContext, fetchAPI));
    },
    onRequestParse({ serverContext, setRequestParser }) {
      setRequestParser(async () => ({
        ...parseParams(await bodyOf(serverContext.req, bodyBytes), trusted),
      }));
    },
    onResultProcess({ result, serverContext, setResult, setResultProcessor }) {
      if (!('errors' in result) || !result.errors) return;
      const { requestId } = serverContext;
      const code = rejectedCodeOf(result);
      if (code !== undefined) serverContext.rejectedCode = code;
      const errors = result.errors.map((error) => withRequestId(error, requestId));
      setResult({ ...result, errors });
      // A client that takes nothing but events still gets an error of HTTP as JSON.
      if (!httpErrorIn(result)) return;
      setResultProcessor(
        (rejected, fetchAPI) => jsonResponse(rejected as ExecutionResult, serverContext, fetchAPI),
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
      const { rejectedCode, requestId } = serverContext;
      if (rejectedCode !== undefined) onRejected(rejectedCode, requestId, response.status);
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
