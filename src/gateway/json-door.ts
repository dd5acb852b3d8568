import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Loaded } from '../loaded.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { type Accepted, acceptedBy } from './accept.ts';
import { readOperationRequest } from './operation-request.ts';
import { answerText } from './answer-text.ts';
import type { Answer, Execution, Pipeline, Prepared } from './pipeline.ts';
import { createRememberedAnswers } from './remembered-answers.ts';
import { type Refusal, isRefusal, refuseTransport } from './refusal.ts';
import { contentProblem, lengthProblem, parseJson, readBody } from './request-body.ts';

export interface JsonDoorParts {
  readonly pipeline: Pipeline;
  /** Who asks over this connection. Rejected without a valid token. */
  readonly seatOf: (connection: object, authorization: string | undefined) => Loaded<Viewer>;
  readonly maxBytes: number;
  readonly onRefused: (refusal: Refusal) => void;
  readonly now: () => number;
  /** Serves an operation as server-sent events. */
  readonly stream: (prepared: Prepared, viewer: Viewer, res: ServerResponse) => Promise<void>;
}

const LINGER_MS = 250;

/** `POST /graphql`: JSON in, JSON out. Checks come in the order of what they cost. */
export function createJsonDoor(parts: JsonDoorParts) {
  const { pipeline } = parts;
  const remembered = createRememberedAnswers(parts.now);

  return (req: IncomingMessage, res: ServerResponse): void | Promise<void> => {
    const accepted = acceptedBy(req.headers.accept);
    const problem = problemOf(req, accepted);
    if (problem) return refused(res, problem, accepted);
    const viewer = parts.seatOf(req.socket, req.headers.authorization);
    if (!(viewer instanceof Promise)) return admitted(req, res, accepted, viewer);
    return viewer.catch(unauthenticated).then((known) => {
      if (isRefusal(known)) return refused(res, known, accepted);
      return admitted(req, res, accepted, known);
    });
  };

  function problemOf(req: IncomingMessage, accepted: Accepted): Refusal | undefined {
    if (!accepted.json && !accepted.stream) return notAcceptable;
    return contentProblem(req) ?? lengthProblem(req, parts.maxBytes);
  }

  async function admitted(
    req: IncomingMessage,
    res: ServerResponse,
    accepted: Accepted,
    viewer: Viewer,
  ): Promise<void> {
    const text = await readBody(req, parts.maxBytes);
    if (typeof text !== 'string') return refused(res, text, accepted);
    const key = `${viewer.reach}\n${viewer.subject.length} ${viewer.subject}${text}`;
    const known = accepted.json && remembered.find(key);
    if (!known) return answered(res, accepted, viewer, text, key);
    known.told();
    send(res, 200, accepted, known.body);
  }

  async function answered(
    res: ServerResponse,
    accepted: Accepted,
    viewer: Viewer,
    text: string,
    key: string,
  ): Promise<void> {
    const prepared = preparedFrom(text, viewer);
    if (isRefusal(prepared)) return refused(res, prepared, accepted);
    const isSubscription = prepared.kind === 'subscription';
    if (isSubscription && !accepted.stream) return refused(res, notStreamed, accepted);
    if (isSubscription || !accepted.json) return parts.stream(prepared, viewer, res);
    const execution = pipeline.execute(prepared, viewer, 'http');
    const answer = await whileOpen(res, execution);
    if (prepared.kind === 'query') {
      remembered.keep(key, answer.data, execution.basis, (of) => pipeline.repeated(of, viewer));
    }
    send(res, 200, accepted, answerText(answer));
  }

  function preparedFrom(text: string, viewer: Viewer): Prepared | Refusal {
    const body = parseJson(text);
    if (isRefusal(body)) return body;
    const request = readOperationRequest(body.json);
    return isRefusal(request) ? request : pipeline.prepare(request, viewer);
  }

  function refused(res: ServerResponse, refusal: Refusal, accepted: Accepted): void {
    parts.onRefused(refusal);
    if (refusal.status === 413) closeAfter(res);
    const isPlain = accepted.json === 'application/json';
    const status = refusal.isTransport || !isPlain ? refusal.status : 200;
    send(res, status, accepted, JSON.stringify({ errors: refusal.errors }));
  }
}

/** A client that has gone needs no answer. */
function whileOpen(res: ServerResponse, { answer, abandon }: Execution): Loaded<Answer> {
  if (!(answer instanceof Promise)) return answer;
  res.once('close', abandon);
  return answer.finally(() => res.off('close', abandon));
}

const notAcceptable = refuseTransport(
  406,
  'Answers can be had as application/graphql-response+json, application/json or text/event-stream.',
);

const notStreamed = refuseTransport(
  406,
  'A subscription is served over WebSocket, or to clients that accept text/event-stream.',
);

/** What is left of the body is not worth reading; but a socket that is cut at once may lose the answer. */
function closeAfter(res: ServerResponse): void {
  res.setHeader('connection', 'close');
  res.once('finish', () => setTimeout(() => res.req.socket.destroy(), LINGER_MS).unref());
}

function unauthenticated(error: unknown): Refusal {
  if (error instanceof Error && 'code' in error && error.code === 'UNAUTHENTICATED') {
    return refuseTransport(401, error.message, 'UNAUTHENTICATED');
  }
  throw error;
}

/**
 * A short body is best sent as text: it then goes out in one piece with its headers. Where each character is one byte
 * there is nothing to encode, and Latin-1 says so.
 */
function send(
  res: ServerResponse,
  status: number,
  { json }: Accepted,
  body: Buffer | string,
): void {
  const bytes = Buffer.byteLength(body);
  res.writeHead(status, {
    'content-type': `${json ?? 'application/json'}; charset=utf-8`,
    'content-length': bytes,
    'cache-control': 'no-store',
  });
  if (bytes === body.length) res.end(body, 'latin1');
  else res.end(body);
}
