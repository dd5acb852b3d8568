import type { CursorCodec } from './connection/cursor.ts';
import type { Page } from './connection/page.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Milestones } from './store/milestones.ts';
import type { Freshness } from './freshness.ts';
import type { Loaded } from './loaded.ts';
import type { OperationTrace } from './observe/tracing.ts';
import type { Audit, OperationAudit } from './observe/audit.ts';
import type { ListName, ListRef, RecordOf } from './rest/lists.ts';
import type { Loaders } from './rest/loaders.ts';
import type { Partner } from './rest/partner.ts';
import type { Usage } from './rest/usage.ts';
import type { Position } from './store/event-log.ts';
import type { LineageStore } from './store/lineage-store.ts';
import type { Once } from './store/once.ts';
import type { Store } from './store/store.ts';
import { type Reach, reachOf } from './viewer/reach.ts';
import type { Viewer } from './viewer/viewer.ts';

/** A row that a search came upon, and the list it stood in. */
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
  readonly milestones: Milestones;
  readonly freshness: Freshness;
  readonly once: Once;
  /** Undefined where nothing is written down. */
  readonly audit: Audit | undefined;
  /** The wall clock: how old a link is decides what it proves. */
  readonly now: () => number;
}

export type Door = 'http' | 'sse' | 'ws';

/** What a resolver may reach. New for every operation and every delivered event. */
export interface Context {
  readonly viewer: Viewer;
  readonly reach: Reach;
  readonly usage: Usage;
  readonly loaders: Loaders;
  readonly partner: Partner;
  readonly store: Store;
  readonly lineage: LineageStore;
  readonly hub: EventHub;
  readonly cursors: CursorCodec;
  readonly milestones: Milestones;
  readonly freshness: Freshness;
  readonly once: Once;
  readonly now: () => number;
  /** Whoever shows a patient's record says so here, and whoever does not show it too. */
  readonly audit: OperationAudit | undefined;
  readonly door: Door;
  /** Spans of fields that may cost calls, where the operation is traced. */
  readonly trace?: OperationTrace;
  /** The event log's position when the operation began. */
  readonly beganAt: Position;
  /** Pages this operation has read: the first place where a search looks. */
  readonly seenPages: Map<Page<{ readonly id: string }>, ListRef>;
  /** Searches and proofs, each made once an operation. */
  readonly lookups: Map<string, Promise<FoundRow | undefined>>;
  readonly proofs: Map<string, Loaded<boolean>>;
}

export function createContext(
  house: House,
  viewer: Viewer,
  usage: Usage,
  door: Door,
  operation: string | undefined,
): Context {
  return {
    viewer,
    reach: reachOf(viewer),
    usage,
    loaders: house.partner.loadersFor(usage),
    partner: house.partner,
    store: house.store,
    lineage: house.store.lineage,
    hub: house.hub,
    cursors: house.cursors,
    milestones: house.milestones,
    freshness: house.freshness,
    once: house.once,
    now: house.now,
    audit: house.audit?.begin(viewer.subject, operation),
    door,
    beganAt: house.hub.position,
    seenPages: new Map(),
    lookups: new Map(),
    proofs: new Map(),
  };
}
