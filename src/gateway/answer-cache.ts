import { crc32 } from 'node:zlib';

import type { ExecutionResult } from 'graphql';
import { LRUCache } from 'lru-cache';

import { type ResultBasis, basisOf, isValid } from '../context.ts';
import { acceptedBy } from './request.ts';
import type { GatewayContext, GatewayParts, HttpContext } from './gateway.ts';

export interface CachedAnswer extends ResultBasis {
  /** A short one is a string: Node then sends it in one packet with its headers. */
  readonly content: string | Buffer<ArrayBuffer>;
  /** Logs, counts and audits a hit. */
  readonly onHit: (requestId: string) => void;
}

/**
 * `find` returns the cached answer to a repeated query, and logs it, while everything that it was made of is valid.
 * `store` caches an answer at the second request, since most requests are made once. The key includes the viewer: an
 * answer is only given to the same viewer, and not as an event stream, which would be a copy that no limit counts.
 */
export function createAnswerCache({ services, ...parts }: GatewayParts) {
  const answers = new LRUCache<string, CachedAnswer>({
    // In bytes, for bodies, keys and an overhead of 2 KiB.
    maxSize: 64 * 2 ** 20,
    maxEntrySize: 4 * 2 ** 20,
    ttlAutopurge: true,
    ttlResolution: 0,
    perf: services.partner.clock,
    sizeCalculation: ({ content, validities }, key) =>
      2 * (content.length + key.length) + 8 * validities.length + 2_048,
  });
  /** Hashes of the keys of recent requests. The keys themselves may contain names of patients. */
  const recent = new Uint32Array(4_096);

  function store(context: GatewayContext, result: ExecutionResult): void {
    const { answerKey: key, operation, resolverContext } = context;
    if (!key || !resolverContext || operation?.kind !== 'query' || result.errors) return;
    // If two keys have the same hash, an answer is cached one request earlier, which does no harm.
    const keyHash = crc32(key);
    const slot = keyHash % recent.length;
    if (recent[slot] !== keyHash) return void (recent[slot] = keyHash);
    const { loaders, audit, cachePolicy } = resolverContext;
    // It depends on more than the Partner API's answers, or a record was denied.
    if (!cachePolicy.isCacheable || audit?.denied.size || loaders.entries.length === 0) return;
    const now = services.partner.clock.now();
    const basis = basisOf(resolverContext);
    // Some of it may have been invalidated while the operation ran.
    if (!isValid(basis, now)) return;
    const { id, name, estimated } = operation;
    const usage = { calls: 0, cached: basis.validities.length, coalesced: 0, retried: 0 };
    const extensions = { ...result.extensions, upstream: { estimated, ...usage } };
    const auditHit = audit?.prepareRepeated();
    const line = { id, kind: 'query', name, durationMs: 0, outcome: 'ok' };
    const logHit = parts.observer.prepareRepeated(line, usage);
    const onHit = (requestId: string): void => {
      auditHit?.(requestId);
      logHit(requestId);
    };
    const json = JSON.stringify({ data: result.data, extensions });
    const content = json.length > 16_384 ? Buffer.from(json) : json;
    answers.set(key, { ...basis, content, onHit }, { ttl: basis.expiresAt - now });
  }

  function find(context: HttpContext, body: string): CachedAnswer | undefined {
    if (!acceptedBy(context.res.req).jsonType) return undefined;
    const { reach, subject } = context.viewer!;
    // The subject's length separates it from the body, so that no two viewers share a key.
    context.answerKey = `${reach.key}\n${subject.length} ${subject}${body}`;
    const known = answers.get(context.answerKey);
    if (!known || !isValid(known, services.partner.clock.now())) return undefined;
    known.onHit(context.requestId!);
    return known;
  }

  return { find, store };
}
