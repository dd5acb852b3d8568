import { executeSubscriptionEvent } from 'graphql';
import { LRUCache } from 'lru-cache';

import { type ResultBasis, basisOf, createContext, isValid } from '../../context.ts';
import type { PartnerEvent } from '../../events/partner-event.ts';
import { auditEventRead, isVisible } from '../../resolvers/event-log.ts';
import { type Usage, createUsage } from '../../rest/partner.ts';
import type { GatewayParts } from '../gateway.ts';
import { LARGE_CHARACTERS } from '../open-connections.ts';
import type { SharedOperation } from './subscriptions.ts';

/** The result of an event for a subscription, executed once for all its receivers. */
export interface EventResult {
  /** The response as JSON. A large one is serialized when it is sent: results that wait must not fill the memory. */
  readonly text?: string;
  readonly largeResponse?: object;
  /** Of the JSON. Zero if the viewer may not see the event. */
  readonly length: number;
  /** Records that it shows, and records that it names but does not show, for the audit of each receiver. */
  readonly records: readonly string[];
  readonly denied: readonly string[];
  /** Undefined if it may not be used again: it has errors, or a list did not show that the viewer may see the event. */
  readonly basis?: ResultBasis | undefined;
  /** If it depends on more than the Partner API's answers: it is valid only while the log is at this position. */
  readonly logPosition?: number | undefined;
}

/** Executes each event once for equal operations, with new loaders, so that linked records are fetched anew. */
export function createEventResults({ services, config, maskErrors }: GatewayParts) {
  // Clients that resume at the same time replay the same events, so recent results are kept while they are valid.
  const recent = { max: 1_000, ttl: 5_000, ttlAutopurge: true };
  const usages = new LRUCache<string, Usage>({
    ...recent,
    // While the Partner API is slow, executions of one event may begin seconds apart, each behind earlier events.
    ttl: Math.max(recent.ttl, config.limits.operationMs),
    memoMethod: () => createUsage({ maxCalls: config.operation.maxUpstreamCalls }),
  });
  const results = new LRUCache<string, EventResult, Parameters<typeof execute>>({
    ...recent,
    maxSize: 8 * 2 ** 20,
    sizeCalculation: ({ length }, key) => key.length + length,
    fetchMethod: (_key, _stale, { context }) =>
      services.hub.runOrQuarantine(context[0], 'execute', () => execute(...context)),
    // A result that is evicted while it is made is still returned.
    ignoreFetchAbort: true,
  });

  const isValidNow = (basis: ResultBasis) => isValid(basis, services.partner.clock.now());

  async function execute(event: PartnerEvent, operation: SharedOperation): Promise<EventResult> {
    const { viewer, args, estimated } = operation;
    // All subscriptions of a viewer share one call limit per webhook, however many there are. An event with several
    // scores is several entries of the log, with the same time and client.
    const key = `${event.receivedAt} ${event.clientId} ${viewer.subject} ${viewer.reach.key}`;
    const usage = usages.memo(key, { forceRefresh: usages.peek(key)?.isOver === true });
    // A Partner API that hangs must not hold up the events behind this one for ever.
    using _ = setTimeout(() => usage.end(), config.limits.operationMs);
    const contextValue = createContext(services, viewer, usage, operation);
    if (!(await isVisible(event, operation.filter, contextValue))) {
      // For a session's event the viewer's grants alone decide.
      const basis = 'sessionId' in event ? basisOf(contextValue) : undefined;
      return { length: 0, records: [], denied: [], basis };
    }
    const execution = { ...args, rootValue: event, contextValue };
    const { data = null, errors } = await executeSubscriptionEvent(execution);
    auditEventRead(event, contextValue);
    const masked = errors && maskErrors({ data, errors }, estimated);
    const { read = [], denied = [] } = contextValue.audit ?? {};
    const { cachePolicy, startPosition } = contextValue;
    const response = { errors: masked, data };
    const text = JSON.stringify(response);
    return {
      ...(text.length < LARGE_CHARACTERS ? { text } : { largeResponse: response }),
      length: text.length,
      records: [...read],
      denied: [...denied],
      basis: errors ? undefined : basisOf(contextValue),
      logPosition: cachePolicy.isCacheable ? undefined : startPosition,
    };
  }

  /** Undefined if the event is in quarantine. */
  return async function resultOf(event: PartnerEvent, operation: SharedOperation) {
    // After a loss of the log, positions are used again, but cursors are not: so the key has the cursor.
    const { cursorAt, position } = services.hub;
    const key = `${cursorAt(event.position, event.receivedAt)} ${operation.key}`;
    const { basis, logPosition = position } = results.peek(key) ?? {};
    const forceRefresh = !basis || !isValidNow(basis) || logPosition !== position;
    const status: LRUCache.Status<string, EventResult, Parameters<typeof execute>> = {};
    const context: Parameters<typeof execute> = [event, operation];
    const result = await results.fetch(key, { context, status, forceRefresh });
    // Even with `forceRefresh`, lru-cache shares an execution under way, which may have begun before an edit; the next did not.
    const isOld = status.fetch === 'inflight' && result?.basis && !isValidNow(result.basis);
    return isOld ? results.fetch(key, { context, forceRefresh: true }) : result;
  };
}
