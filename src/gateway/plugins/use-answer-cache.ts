import type { IncomingMessage, ServerResponse } from 'node:http';

import type { ExecutionResult } from 'graphql';
import { isAsyncIterable } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';

import type { Context, Services } from '../../context.ts';
import type { CacheEntry } from '../../rest/cache.ts';
import { endOfTurn } from '../../end-of-turn.ts';
import type { Viewer } from '../../viewer/viewer.ts';
import { acceptedBy, requestIdOf, requestProblem } from '../request.ts';
import type { GatewayParts } from '../gateway.ts';
import type { ExecutionContext, GatewayPlugin } from '../yoga.ts';

/** What a result was made of: it may be sent again while all of it is valid. */
export interface ResultBasis {
  /** Of the Partner API's answers: all of them must be current. */
  readonly validities: readonly CacheEntry['validity'][];
  /** Lists and ids: before each use, a page that was read lately must still show that the list holds the record. */
  readonly proofs: Context['cachePolicy']['proofs'];
}

export const basisOf = ({ loaders, cachePolicy }: Context): ResultBasis => ({
  validities: loaders.entries.map(({ validity }) => validity),
  proofs: cachePolicy.proofs,
});

export const isValid = ({ validities, proofs }: ResultBasis, { recentLists }: Services): boolean =>
  validities.every(({ isCurrent }) => isCurrent) &&
  proofs.every(([list, id]) => recentLists.proves(list, id));

interface CachedAnswer extends ResultBasis {
  /** A short body is a string: Node then sends it in one packet with its headers. */
  readonly body: Buffer | string;
  readonly bytes: number;
  /** Logs, counts and audits a hit. */
  readonly onHit: (requestId: string) => void;
}

export type AnswerCache = ReturnType<typeof createAnswerCache>;

/** For all answers: bodies, keys and overhead. */
const CACHE_BYTES = 64 * 1024 * 1024;
const MAX_ENTRY_BYTES = 4 * 1024 * 1024;
const OVERHEAD_BYTES = 2_048;
const MAX_STRING_BODY = 16_384;
const RECENT_REQUESTS = 2_500;
const RECENT_CHARACTERS = 2_000_000;

/**
 * `serve` answers a repeated query from memory, before Yoga, while everything that the answer was made of is valid. The
 * plugin caches an answer at the second request, since most requests come once (`onExecute`). The key includes the
 * viewer: an answer is only given to the same viewer.
 */
export function createAnswerCache({ services, config, ...parts }: GatewayParts) {
  const answers = new LRUCache<string, CachedAnswer>({
    maxSize: CACHE_BYTES,
    maxEntrySize: MAX_ENTRY_BYTES,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: parts.clock,
    sizeCalculation: ({ body, validities }, key) =>
      2 * (body.length + key.length) + 8 * validities.length + OVERHEAD_BYTES,
  });
  /** The keys of recent requests. */
  const recent = new LRUCache<string, true>({
    max: RECENT_REQUESTS,
    maxSize: RECENT_CHARACTERS,
    sizeCalculation: (_, key) => key.length,
  });

  function store(
    key: string,
    { data, extensions: others }: ExecutionResult,
    { operation, resolverContext }: ExecutionContext,
  ): void {
    const ttl = expiryOf(resolverContext) - parts.clock.now();
    const basis = basisOf(resolverContext);
    // Some of it may have been invalidated while the operation ran.
    if (ttl <= 0 || !isValid(basis, services)) return;
    const { id, name, estimated } = operation;
    const usage = { calls: 0, cached: basis.validities.length, coalesced: 0, retried: 0 };
    const extensions = { ...others, upstream: { estimated, ...usage } };
    const text = JSON.stringify({ data: data ?? null, extensions });
    const auditHit = resolverContext.audit?.prepareRepeated();
    const line = { id, kind: 'query', name, durationMs: 0, outcome: 'ok' };
    const logHit = parts.observer.repeated(line, usage);
    const onHit = (requestId: string): void => {
      auditHit?.(requestId);
      logHit(requestId);
    };
    const body = text.length > MAX_STRING_BODY ? Buffer.from(text) : text;
    const bytes = Buffer.byteLength(text);
    answers.set(key, { ...basis, body, bytes, onHit }, { ttl });
  }

  /** True if the request was answered. Otherwise Yoga handles it, including any error in it. */
  async function serve(req: KeyedRequest, res: ServerResponse): Promise<boolean> {
    const { json } = acceptedBy(req.headers.accept);
    if (!json || requestProblem(req, config.limits.bodyBytes)) return false;
    try {
      const viewer = await parts.authenticate(req.headers.authorization);
      req.answerKey = keyOf(viewer, await parts.bodyOf(req));
      const known = answers.get(req.answerKey);
      if (!known || !isValid(known, services)) return false;
      known.onHit(requestIdOf(res));
      res.writeHead(200, {
        ...parts.origins.corsHeaders(req.headers.origin),
        'content-type': `${json}; charset=utf-8`,
        'content-length': known.bytes,
      });
      void endOfTurn().then(() => res.end(known.body));
      return true;
    } catch {
      return false;
    }
  }

  const plugin: GatewayPlugin = {
    onExecute: () => ({
      onExecuteDone({ args, result }) {
        const context = args.contextValue as ExecutionContext;
        const req: KeyedRequest | undefined = context.req;
        const key = req?.answerKey;
        if (key === undefined || context.operation?.kind !== 'query') return;
        if (isAsyncIterable(result) || result.errors) return;
        if (recent.get(key)) store(key, result, context);
        else recent.set(key, true);
      },
    }),
  };
  return { plugin, serve };
}

/** `serve` passes the key on to the plugin: making it takes time, since it holds the whole body. */
type KeyedRequest = IncomingMessage & { answerKey?: string };

/** The subject's length separates it from the body, so that no two viewers share a key. */
const keyOf = ({ reach, subject }: Viewer, body: string): string =>
  `${reach.text}\n${subject.length} ${subject}${body}`;

/** The earliest expiry of the Partner API's answers in it, or 0 if it depends on more, or if a record was denied. */
function expiryOf({ loaders, audit, cachePolicy }: Context): number {
  if (!cachePolicy.isCacheable || audit?.denied.size || loaders.entries.length === 0) return 0;
  return Math.min(...loaders.entries.map(({ expiresAt }) => expiresAt));
}
