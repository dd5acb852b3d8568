import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

import { watched } from '../../answer.ts';
import type { Audit } from '../../observability/audit.ts';
import type { createOperationObserver } from '../../observability/operation-observer.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import type { ExecutionContext } from '../context.ts';
import { jsonOf } from '../json-response.ts';
import { acceptedBy, requestProblem } from '../request.ts';
import type { GatewayPlugin } from '../yoga.ts';
import { isPlainJson } from './use-json-posts.ts';
import { bodyOf } from './use-request-limits.ts';
import type { ViewerOf } from './use-viewer.ts';

export interface AnswerCacheOptions {
  readonly viewerOf: ViewerOf;
  readonly corsHeaders: (origin: string | undefined) => Record<string, string>;
  readonly bodyBytes: number;
  readonly audit: Audit | undefined;
  readonly repeated: ReturnType<typeof createOperationObserver>['repeated'];
  /** The clock that the Partner API's answers expire by. */
  readonly now: () => number;
}

interface CachedAnswer {
  /** A short body is best sent as text: it then goes out in one piece with its headers. */
  readonly body: Buffer | string;
  readonly areValid: () => boolean;
  readonly expiresAt: number;
  /** Logs, counts and audits that the answer was given again. */
  readonly onRepeated: () => void;
}

export type AnswerCache = ReturnType<typeof createAnswerCache>;

/** Of texts and keys. */
const CACHE_BYTES = 64 * 1024 * 1024;
const LARGEST_BYTES = 4 * 1024 * 1024;
const OVERHEAD_BYTES = 2_048;
const SHORT = 16_384;
const SWEEP_EVERY_MS = 1_000;
const RECENT_REQUESTS = 2_500;
const RECENT_CHARACTERS = 2_000_000;

/**
 * Answers a query again, with no work at all, while everything that its answer was made of is valid: right in front of
 * Yoga, which takes as long as sending the bytes does. An answer is cached when the same request comes for the second
 * time, since most come once (`onExecute`). The key names the viewer: answers are given to that viewer alone.
 */
export function createAnswerCache(options: AnswerCacheOptions) {
  const { bodyBytes, now } = options;
  const answers = new LRUCache<string, CachedAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: LARGEST_BYTES,
    sizeCalculation: ({ body }, key) => 2 * (body.length + key.length) + OVERHEAD_BYTES,
  });
  const recent = new LRUCache<string, true>({
    max: RECENT_REQUESTS,
    maxSize: RECENT_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  });

  let sweptAt = 0;

  function find(key: string): CachedAnswer | undefined {
    const answer = answers.get(key);
    if (!answer || isValid(answer)) return answer;
    answers.delete(key);
    return undefined;
  }

  const isValid = ({ expiresAt, areValid }: CachedAnswer): boolean =>
    now() < expiresAt && areValid();

  /** Now and then: an answer that is over keeps alive all that it was made of. */
  function sweep(): void {
    if (now() - sweptAt < SWEEP_EVERY_MS) return;
    sweptAt = now();
    for (const [key, answer] of answers.entries()) if (!isValid(answer)) answers.delete(key);
  }

  function isRepeated(key: string): boolean {
    const known = recent.has(key);
    recent.set(key, true);
    return known;
  }

  function keep(key: string, { data }: ExecutionResult, context: ExecutionContext): void {
    const made = dependenciesOf(context);
    if (!made) return;
    const { id, name, estimated } = context.operation;
    const usage = { calls: 0, cached: made.cached, coalesced: 0, retried: 0 };
    const text = jsonOf({ data: data ?? null, extensions: { upstream: { estimated, ...usage } } });
    const written = context.audit?.hasSeen()
      ? options.audit?.again(context.requester!.subject, name, id)
      : undefined;
    const counted = options.repeated({ id, kind: 'query', name, durationMs: 0, usage, codes: [] });
    const onRepeated = (): void => {
      written?.();
      counted();
    };
    sweep();
    const { areValid, expiresAt } = made;
    const body = text.length > SHORT ? Buffer.from(text) : text;
    answers.set(key, { body, areValid, expiresAt, onRepeated });
  }

  /** True if the request was answered. Whatever is not plain is left to Yoga. */
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<boolean> {
    if (!isPlainJson(req) || requestProblem(req, bodyBytes)) return false;
    try {
      const viewer = await options.viewerOf(req.socket, req.headers.authorization);
      const known = find(keyOf(viewer, await bodyOf(req, bodyBytes)));
      if (!known) return false;
      known.onRepeated();
      res.writeHead(200, {
        ...options.corsHeaders(req.headers.origin),
        'content-type': `${acceptedBy(req.headers.accept).json}; charset=utf-8`,
        'content-length': Buffer.byteLength(known.body),
        'cache-control': 'no-store',
      });
      res.end(known.body);
      return true;
    } catch {
      return false;
    }
  }

  const plugin: GatewayPlugin = {
    async onRequest({ serverContext }) {
      const { req, requester } = serverContext;
      if (!isPlainJson(req)) return;
      const body = await bodyOf(req, bodyBytes).catch(() => undefined);
      if (body !== undefined) serverContext.answerKey = keyOf(requester!, body);
    },
    onExecute: () => ({
      onExecuteDone({ args, result }) {
        const context = args.contextValue as ExecutionContext;
        const { answerKey, operation } = context;
        if (answerKey === undefined || operation?.kind !== 'query') return;
        if (isAsyncIterable(result) || result.errors || !isRepeated(answerKey)) return;
        keep(answerKey, result, context);
      },
    }),
  };
  return { plugin, serve };
}

/** The subject's length is in it, so that no name can run into the text that follows. */
const keyOf = ({ reach, subject }: Viewer, body: string): string =>
  `${reach}\n${subject.length} ${subject}${body}`;

interface Dependencies {
  readonly areValid: () => boolean;
  readonly expiresAt: number;
  /** How many answers of the Partner API. */
  readonly cached: number;
}

/** What an answer was made of. Undefined where that is not known, or where a record was not shown. */
function dependenciesOf({
  usage,
  audit,
  isBeyondRest,
}: ExecutionContext): Dependencies | undefined {
  const parts = [...usage.answers, ...usage.proofs];
  if (isBeyondRest || audit?.missing.size || parts.length === 0) return undefined;
  const expiresAt = parts.reduce((at, part) => Math.min(at, part.expiresAt), Infinity);
  return { areValid: watched(parts), expiresAt, cached: usage.answers.size };
}
