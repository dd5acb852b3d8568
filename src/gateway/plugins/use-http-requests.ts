import type { ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';
import { type FetchAPI, getSSEProcessor } from 'graphql-yoga';

import { endOfTurn } from '../../end-of-turn.ts';
import { CodedError } from '../../errors.ts';
import { requestIdOf } from '../../observability/request-id.ts';
import { MESSAGES } from '../../viewer/authenticate.ts';
import { hasExpired } from '../../viewer/viewer.ts';
import { forClient, requestRejected } from '../client-error.ts';
import { acceptedBy, commonHeaders, createBodyTextReader, requestProblem } from '../request.ts';
import { SHORT_OF_MEMORY, UNREAD_RESPONSES, parseParams, runOperation } from '../run-operation.ts';
import { Subscription } from '../subscriptions/subscriptions.ts';
import { LARGE_CHARACTERS } from '../open-connections.ts';
import type { GatewayParts, GatewayPlugin, GatewayYoga, HttpContext } from '../gateway.ts';
import { type CachedAnswer, createAnswerCache } from '../answer-cache.ts';
import { addViewer } from './use-viewer.ts';

type JsonResponse = Pick<CachedAnswer, 'content'> &
  Readonly<{ status: number; headers: Record<string, string> }>;

/**
 * Checks requests, reads their bodies from node's own stream, and runs their operations through the plugins. `answerJson` is
 * for clients that accept JSON: without Yoga's Fetch layer a small query takes 0.81 of the CPU. The plugin answers all other
 * requests in `onRequest`. Event streams are sent by Yoga's own processor.
 */
export function createHttpRequests(parts: GatewayParts, yogaOf: () => GatewayYoga) {
  const { authenticate, maskError, documentOf, observer } = parts;
  const { bodyBytes } = parts.config.limits;
  const { unread } = parts.connections;
  const answers = createAnswerCache(parts);
  const readBody = createBodyTextReader(bodyBytes);
  const streamed = getSSEProcessor();

  async function resultOf(context: HttpContext) {
    const { res, authError } = context;
    context.requestId = requestIdOf(res.req);
    const problem = parts.isShortOfMemory() ? SHORT_OF_MEMORY : requestProblem(res.req, bodyBytes);
    if (problem) return { errors: [problem] };
    if (authError instanceof CodedError) {
      const status = authError.code === 'UNAUTHENTICATED' ? 401 : 503;
      return { errors: [requestRejected(status, authError.message, authError.code)] };
    }
    try {
      if (authError) throw authError; // Not one of ours: it is masked and logged below.
      const body = await readBody(res.req);
      // A body may take half a minute.
      if (hasExpired(context.viewer!))
        throw requestRejected(401, MESSAGES.expired, 'UNAUTHENTICATED');
      const cached = answers.find(context, body);
      if (cached) return cached;
      const result = await runOperation(yogaOf(), parts, context, parseParams(body, documentOf));
      if (!(result instanceof Subscription)) answers.store(context, result);
      return result;
    } catch (error) {
      return { errors: [maskError(error, context.requestId)] };
    }
  }

  /** The same status as Yoga's: the highest of the errors. For `application/json`, errors marked `spec` don't count. */
  function jsonOf(context: HttpContext, result: ExecutionResult | CachedAnswer): JsonResponse {
    const { res, requestId, viewer, operation } = context;
    const { jsonType = 'application/json' } = acceptedBy(res.req);
    const type = `${jsonType}; charset=utf-8`;
    if ('content' in result)
      return { status: 200, headers: { 'content-type': type }, content: result.content };
    const extensions = (result.errors ?? []).map((error) => error.extensions);
    const details = extensions.flatMap(({ http }) => http ?? []);
    const counted = details.filter(({ spec }) => !spec || jsonType !== 'application/json');
    const status = Math.max(200, ...counted.map((http) => http.status ?? 200));
    if (extensions[0] && !('data' in result)) {
      const code = String(extensions[0]['code']);
      const reason = status === 401 ? context.authError?.reason : undefined;
      observer.rejected(code, { requestId, status, reason, name: context.operationName });
    }
    const text = JSON.stringify(forClient(result, requestId));
    const { length } = text;
    if (operation && length >= LARGE_CHARACTERS && !res.closed) {
      const { subject } = viewer!;
      if (unread.acquire(subject, length)) res.once('close', () => unread.release(subject, length));
      else if (operation.kind === 'query') return jsonOf(context, { errors: [UNREAD_RESPONSES] });
    }
    // A long string would stay in the heap until it is sent. A short one is sent in one packet with its headers.
    const content = length < LARGE_CHARACTERS ? text : Buffer.from(text);
    const headers = Object.assign({ 'content-type': type }, ...counted.map((http) => http.headers));
    return { status, headers, content };
  }

  function streamOf(result: object, fetchAPI: FetchAPI): Response {
    const response = streamed(result, fetchAPI, 'text/event-stream') as Response;
    // The route has set `Cache-Control: no-store` already, and Node knows when to close the connection.
    for (const name of ['Cache-Control', 'Connection']) response.headers.delete(name);
    response.headers.set('x-accel-buffering', 'no');
    return response;
  }

  /** Answers with JSON. Does not answer a subscription but returns its context, for Yoga to stream its events. */
  async function answerJson(res: ServerResponse): Promise<HttpContext | undefined> {
    const context: HttpContext = { res };
    await addViewer(context, authenticate);
    const result = await resultOf(context);
    if (result instanceof Subscription) return { res, viewer: result.viewer, subscription: result };
    // A write that wakes its client is expensive, so the responses of one turn are written together.
    await endOfTurn();
    const { status, headers, content } = jsonOf(context, result);
    // All at once: with `setHeader` before, Node takes 3 % more CPU for a note.
    res.writeHead(status, {
      ...commonHeaders(res.req),
      'cache-control': 'no-store',
      ...parts.origins.corsHeaders(res.req.headers.origin),
      ...headers,
      'content-length': Buffer.byteLength(content),
    });
    res.end(content);
    return undefined;
  }

  const plugin: GatewayPlugin = {
    async onRequest({ serverContext: context, endResponse, fetchAPI }) {
      const result = context.subscription ?? (await resultOf(context));
      if (result instanceof Subscription) return endResponse(streamOf(result.sink, fetchAPI));
      const { status, headers, content } = jsonOf(context, result);
      const { jsonType } = acceptedBy(context.res.req);
      // Errors about the HTTP request are JSON even for a client that accepts only server-sent events.
      if (jsonType || status !== 200)
        return endResponse(new fetchAPI.Response(content, { status, headers }));
      const stream = streamOf({ stringify: () => content.toString() }, fetchAPI);
      // At once: for a stream, Yoga disables the time-out of the socket, and a client that reads nothing would stay.
      endResponse(new fetchAPI.Response(await stream.arrayBuffer(), stream));
    },
  };
  return { plugin, answerJson };
}
