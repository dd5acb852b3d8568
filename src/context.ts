import type { CursorCodec } from './connection/cursor.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Invalidation } from './invalidation.ts';
import type { Loaded } from './loaded.ts';
import type { Audit, OperationAudit } from './observability/audit.ts';
import type { OperationTrace } from './observability/tracing.ts';
import type { RecentLists } from './resolvers/access/recent-lists.ts';
import type { ListName, ListRef, RecordOf } from './rest/lists.ts';
import type { Loaders } from './rest/loaders.ts';
import type { Page } from './page.ts';
import type { Partner } from './rest/partner.ts';
import type { Usage } from './rest/usage.ts';
import type { GlobalIds } from './schema/global-id.ts';
import type { Position } from './store/event-log.ts';
import type { Milestones } from './store/milestones.ts';
import type { Once } from './store/once.ts';
import type { Places } from './store/places.ts';
import type { Store } from './store/store.ts';
import { type Reach, type Viewer, reachOf } from './viewer/viewer.ts';

/** A row that a look-up found, and its list. */
export interface FoundRow {
  readonly row: RecordOf<ListName>;
  readonly list: ListRef;
}

/** Shared by all operations. */
export interface Services {
  readonly partner: Partner;
  readonly store: Store;
  readonly hub: EventHub;
  readonly cursors: CursorCodec;
  readonly ids: GlobalIds;
  readonly recentLists: RecentLists;
  readonly milestones: Milestones;
  readonly invalidation: Invalidation;
  readonly once: Once;
  /** Undefined if nothing is audited. */
  readonly audit: Audit | undefined;
  /** Whether the audit log can take another line. Changes are rejected otherwise. */
  readonly isAuditKept: () => boolean;
  /** Of one look-up by id without a parent. */
  readonly lookupMaxCalls: number;
}

export type Transport = 'http' | 'sse' | 'ws';

/** What a resolver may use. New for every operation and every delivered event. */
export interface Context extends Omit<Services, 'store' | 'audit'> {
  readonly viewer: Viewer;
  readonly reach: Reach;
  readonly usage: Usage;
  readonly loaders: Loaders;
  readonly places: Places;
  /** Takes the name of every patient's record that is returned, and of every record that is denied. */
  readonly audit: OperationAudit | undefined;
  readonly transport: Transport;
  /** Spans of fields that may cost calls, if the operation is traced. */
  readonly trace: OperationTrace | undefined;
  /** The event log's position when the operation began. */
  readonly beganAt: Position;
  /** Pages that this operation has read. A look-up starts with them. */
  readonly seenPages: Map<Page<{ readonly id: string }>, ListRef>;
  /** Look-ups and proofs, each made once an operation. */
  readonly lookups: Map<string, Promise<FoundRow | undefined>>;
  readonly proofs: Map<string, Loaded<boolean>>;
  /** The answer depends on more than what the Partner API said: the event log, the clock, a denial. */
  doNotCache(): void;
  /** The answer is right until this time at most, on the clock that the REST cache expires by. */
  expiresBy(at: number): void;
  readonly cachePolicy: CachePolicy;
}

/** How long the operation's response may be cached, as far as the Partner API's answers do not decide it. */
export interface CachePolicy {
  isCacheable: boolean;
  expiresAt: number;
}

export function createContext(
  services: Services,
  viewer: Viewer,
  usage: Usage,
  transport: Transport,
  operation: {
    readonly name: string | undefined;
    readonly id?: string;
    readonly requestId?: string | undefined;
  },
  trace?: OperationTrace,
): Context {
  const cachePolicy: CachePolicy = { isCacheable: true, expiresAt: Number.POSITIVE_INFINITY };
  return {
    viewer,
    reach: reachOf(viewer),
    usage,
    loaders: services.partner.loadersFor(usage),
    partner: services.partner,
    hub: services.hub,
    cursors: services.cursors,
    ids: services.ids,
    recentLists: services.recentLists,
    places: services.store.places,
    milestones: services.milestones,
    invalidation: services.invalidation,
    once: services.once,
    lookupMaxCalls: services.lookupMaxCalls,
    audit: services.audit?.begin(viewer.subject, operation.name, operation.id, operation.requestId),
    isAuditKept: services.isAuditKept,
    transport,
    trace,
    beganAt: services.hub.position,
    seenPages: new Map(),
    lookups: new Map(),
    proofs: new Map(),
    cachePolicy,
    doNotCache() {
      cachePolicy.isCacheable = false;
    },
    expiresBy(at) {
      cachePolicy.expiresAt = Math.min(cachePolicy.expiresAt, at);
    },
  };
}
