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
import { type Reach, reachOf } from './viewer/reach.ts';
import type { Viewer } from './viewer/viewer.ts';

/** A row that a look-up found, and the list it stands in. */
export interface FoundRow {
  readonly row: RecordOf<ListName>;
  readonly list: ListRef;
}

/** What all operations share. */
export interface House {
  readonly partner: Partner;
  readonly store: Store;
  readonly hub: EventHub;
  readonly cursors: CursorCodec;
  readonly ids: GlobalIds;
  readonly recentLists: RecentLists;
  readonly milestones: Milestones;
  readonly invalidation: Invalidation;
  readonly once: Once;
  /** Undefined where nothing is audited. */
  readonly audit: Audit | undefined;
  /** Is there room to write down a change? */
  readonly isAuditKept: () => boolean;
  /** Of one look-up by id without a parent. */
  readonly lookupMaxCalls: number;
}

export type Door = 'http' | 'sse' | 'ws';

/** What a resolver may use. New for every operation and every delivered event. */
export interface Context {
  readonly viewer: Viewer;
  readonly reach: Reach;
  readonly usage: Usage;
  readonly loaders: Loaders;
  readonly partner: Partner;
  readonly hub: EventHub;
  readonly cursors: CursorCodec;
  readonly ids: GlobalIds;
  readonly recentLists: RecentLists;
  readonly places: Places;
  readonly milestones: Milestones;
  readonly invalidation: Invalidation;
  readonly once: Once;
  readonly lookupMaxCalls: number;
  /** Whoever shows a patient's record says so here, and whoever does not show it too. */
  readonly audit: OperationAudit | undefined;
  readonly isAuditKept: () => boolean;
  readonly door: Door;
  /** Spans of fields that may cost calls, where the operation is traced. */
  readonly trace: OperationTrace | undefined;
  /** The event log's position when the operation began. */
  readonly beganAt: Position;
  /** Pages this operation has read: the first place where a look-up looks. */
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

/** What beside the Partner API's answers decides for how long the operation's own answer may be kept. */
export interface CachePolicy {
  isCacheable: boolean;
  expiresAt: number;
}

export function createContext(
  house: House,
  viewer: Viewer,
  usage: Usage,
  door: Door,
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
    loaders: house.partner.loadersFor(usage),
    partner: house.partner,
    hub: house.hub,
    cursors: house.cursors,
    ids: house.ids,
    recentLists: house.recentLists,
    places: house.store.places,
    milestones: house.milestones,
    invalidation: house.invalidation,
    once: house.once,
    lookupMaxCalls: house.lookupMaxCalls,
    audit: house.audit?.begin(viewer.subject, operation.name, operation.id, operation.requestId),
    isAuditKept: house.isAuditKept,
    door,
    trace,
    beganAt: house.hub.position,
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
