import { type ValidatedSubscriptionArgs, executeSubscriptionEvent } from 'graphql';

import { type Context, type Door, type House, createContext } from '../context.ts';
import type { EventFilter } from '../events/filter.ts';
import type { PartnerEvent } from '../events/partner-event.ts';
import { mayReceiveEvent } from '../resolvers/access/event-access.ts';
import { sawEvent } from '../resolvers/access/audit-reads.ts';
import { createUsage } from '../rest/usage.ts';
import type { Viewer } from '../viewer/viewer.ts';
import { inDocumentOrder } from './error-order.ts';
import type { Executed } from './executions.ts';
import { spokenOf } from './masking.ts';
import { createPayload } from './payload.ts';
import type { Prepared } from './pipeline.ts';

export interface EventExecutionParts {
  readonly house: House;
  readonly maxUpstreamCalls: number;
  /** For one event: a Partner API that hangs must not hold up those behind it for ever. */
  readonly operationMs: number;
  readonly onMasked: (cause: unknown) => void;
}

/** A subscription, and for whom it is executed. */
export interface Listening {
  readonly prepared: Prepared;
  readonly viewer: Viewer;
  readonly door: Door;
}

export function createEventExecution(parts: EventExecutionParts) {
  const { house, maxUpstreamCalls } = parts;

  /** New loaders for every event: what it links to is fetched anew. */
  const contextFor = ({ viewer, door, prepared }: Listening): Context => {
    const usage = createUsage({ maxCalls: maxUpstreamCalls });
    return createContext(house, viewer, usage, door, prepared);
  };

  async function execute(event: PartnerEvent, listening: Listening, filter: EventFilter): Executed {
    const contextValue = contextFor(listening);
    const timer = setTimeout(() => contextValue.usage.end(), parts.operationMs);
    try {
      if (!(await mayReceiveEvent(event, contextValue, filter))) return undefined;
      const args = listening.prepared.args as ValidatedSubscriptionArgs;
      const execution = { ...args, rootValue: event, contextValue };
      const { data, errors } = await executeSubscriptionEvent(execution);
      sawEvent(event, contextValue);
      const seen = contextValue.audit && [...contextValue.audit.seen];
      if (!errors) return createPayload({ data }, seen);
      const spoken = inDocumentOrder(errors).map((error) => spokenOf(error, parts.onMasked));
      return createPayload({ errors: spoken, data }, seen);
    } finally {
      clearTimeout(timer);
    }
  }

  return { contextFor, execute };
}
