import type { FieldNode, ValidatedExecutionArgs } from 'graphql';

import type { CursorSealer } from './connection/cursor.ts';
import type { Need } from './connection/window.ts';
import { CodedError } from './errors.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Invalidation } from './invalidation.ts';
import { type MaybePromise, mapMaybePromise } from './maybe-promise.ts';
import type { Audit } from './observability/log.ts';
import type { Page } from './page.ts';
import type { RecentLists } from './resolvers/access/recent-lists.ts';
import type { Places } from './resolvers/lookup/places.ts';
import type { ListedRef } from './resolvers/refs.ts';
import type { ListRef } from './rest/lists.ts';
import type { Partner, Usage } from './rest/partner.ts';
import type { GlobalIds } from './schema/global-id.ts';
import type { Marks } from './store/marks.ts';
import type { RunOnce } from './store/idempotency.ts';
import type { Store } from './store/store.ts';
import type { Uuid } from './uuid.ts';
import type { Viewer } from './viewer/viewer.ts';

/** Shared by all operations. */
export interface Services {
  readonly partner: Partner;
  readonly store: Store;
  readonly hub: EventHub;
  readonly cursors: CursorSealer;
  readonly ids: GlobalIds;
  readonly recentLists: RecentLists;
  readonly places: Places;
  readonly marks: Marks;
  readonly invalidation: Invalidation;
  readonly runOnce: RunOnce;
  /** Undefined if nothing is audited. */
  readonly audit: Audit | undefined;
  /** Why a change that is made now might not be audited. Changes are rejected then. */
  readonly auditProblem: () => string | undefined;
  /** How many calls one look-up by id without a parent may make. */
  readonly lookupMaxCalls: number;
}

/** An operation that may be executed: valid, and within every limit. */
export interface Operation {
  /** Unique. Its log lines have it. */
  readonly id: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** For logs, metrics and traces. */
  readonly name: string;
  /** Estimate of its upstream calls. */
  readonly estimated: number;
  readonly args: ValidatedExecutionArgs;
  readonly startedAt: number;
  /** True if the response is plain JSON over HTTP. */
  readonly isPlainHttp: boolean;
}

/** What a resolver may use. New for every operation and every delivered event. */
export type Context = Readonly<ReturnType<typeof createContext>>;

/** How many events an operation may read from the log, matching or not, in all its fields together. */
export const MAX_EVENTS_READ = 2_000;

export function createContext(
  services: Services,
  viewer: Viewer,
  usage: Usage,
  operation: Pick<Operation, 'name' | 'args'> & Partial<Operation>,
) {
  /** Whether the response may be cached, and what must still hold when it is used again. */
  const cachePolicy = { isCacheable: true, proofs: [] as (() => boolean)[] };
  return {
    ...services,
    viewer,
    reach: viewer.reach,
    usage,
    /** Its `args` are for look-ahead: graphql-jit's `info` has other variables than graphql-js'. */
    operation,
    loaders: services.partner.loadersFor(usage),
    /** Records every patient's record that is returned, and every record that is denied. */
    audit: services.audit?.begin(viewer.subject, operation.name, operation.id, usage.requestId),
    /** The event log's position when the operation began. */
    startPosition: services.hub.position,
    /** Pages that this operation has read. A look-up starts with them. */
    seenPages: new Set<Page<ListedRef>>(),
    /** Look-ups of records and checks of access: each is made once per operation. */
    lookups: new Map<string, Promise<ListedRef | undefined>>(),
    accessChecks: new Map<string, MaybePromise<boolean>>(),
    /** Lists whose parent was not found. A grant may name one, and each assessment in the log is looked up there. */
    missingLists: new Set<string>(),
    /** What each connection field needs. graphql-jit passes the same nodes for all parents. */
    connectionNeeds: new Map<readonly FieldNode[], Need>(),
    /** How many events it may still read of the log. */
    eventBudget: { left: MAX_EVENTS_READ },
    responseSize: new ResponseSize(),
    cachePolicy,
    /** The answer depends on more than the Partner API's answers: the event log, the clock or a denial. */
    doNotCache(): void {
      cachePolicy.isCacheable = false;
    },
    /** True if a page that was read lately proves that the list holds the record. The answer is cached only while it does. */
    relyOnProof(list: ListRef, id: string): boolean {
      const isProven = () => services.recentLists.proves(list, id);
      if (isProven()) cachePolicy.proofs.push(isProven);
      return isProven();
    },
    /** The client that the event log names for the session. The answer is cached only while it names no other. */
    clientIdFromLog(sessionId: Uuid): MaybePromise<Uuid | null | undefined> {
      const find = () => services.hub.clientIdFromLog(sessionId);
      return mapMaybePromise(find(), (clientId) => {
        cachePolicy.proofs.push(() => find() === clientId);
        return clientId;
      });
    },
  };
}

/** What a result was made of: it may be sent again while all of it is valid. */
export type ResultBasis = Readonly<ReturnType<typeof basisOf>>;

export const basisOf = ({ loaders, cachePolicy }: Context) => ({
  /** One for each answer of the Partner API: all must be current. */
  validities: loaders.entries.map(({ validity }) => validity),
  expiresAt: Math.min(...loaders.entries.map((entry) => entry.expiresAt)),
  /** What must still hold: a list proves access, and a session has the same client. */
  proofs: cachePolicy.proofs,
});

export const isValid = ({ validities, expiresAt, proofs }: ResultBasis, now: number): boolean =>
  now < expiresAt &&
  validities.every(({ isCurrent }) => isCurrent) &&
  proofs.every((isProven) => isProven());

/** Above what a page of 100 sessions with their notes and transcripts takes. */
const MAX_MB = 32;
/** A row with its usual fields. */
export const ROW_BYTES = 1_000;
/** A cursor or a global id. It counts as more than its length because signing it takes time. */
export const SIGNED_BYTES = 500;

/** The approximate size of an operation's response: with aliases and links, a record can be selected thousands of times. */
class ResponseSize {
  #bytes = 0;
  readonly #values = new Set<unknown>();
  /** One for all fields that fail: there may be hundreds of thousands, and the stack of each would take time. */
  #error: CodedError | undefined;

  /** Returns the value. Only copies count: the limit of calls bounds how many different values there are. */
  addValue<T>(value: T): T {
    const isLong = typeof value === 'string' ? value.length > 100 : value instanceof Object;
    if (!isLong) return value;
    if (this.#values.has(value)) this.add(JSON.stringify(value).length);
    this.#values.add(value);
    return value;
  }

  /** Throws if it is too large. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_MB * 2 ** 20) return;
    const message = `A response may have about ${MAX_MB} MB, and this one has more: ask for fewer rows or fields.`;
    throw (this.#error ??= new CodedError('QUERY_TOO_EXPENSIVE', message));
  }
}
