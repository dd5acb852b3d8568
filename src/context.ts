import type { CursorCodec } from './connection/cursor.ts';
import type { Page } from './connection/page.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Milestones } from './store/milestones.ts';
import type { Freshness } from './freshness.ts';
import type { Loaded } from './loaded.ts';
import type { OperationTrace } from './observability/tracing.ts';
import type { Audit } from './observability/audit.ts';
import type { OperationAudit } from './observability/operation-audit.ts';
import type { ListName, ListRef, RecordOf } from './rest/lists.ts';
import type { Loaders } from './rest/loaders.ts';
import type { Partner } from './rest/partner.ts';
import type { Usage } from './rest/usage.ts';
import type { Position } from './store/event-log.ts';
import type { LineageStore, Link } from './store/lineage-store.ts';
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
  /** Is there room to write down a change? */
  readonly isAuditKept: () => boolean;
  /** Wall time that does not jump: how old a link is decides what it proves. */
  readonly now: () => number;
}

export type Door = 'http' | 'sse' | 'ws';

/**
 * What a resolver may reach. New for every operation and every delivered event. What is called for instead of being
 * there makes an answer depend on more than the Partner API's own, and is noted when it is called for.
 */
export interface Context {
  readonly reach: Reach;
  readonly usage: Usage;
  readonly loaders: Loaders;
  readonly partner: Partner;
  readonly cursors: CursorCodec;
  readonly freshness: Freshness;
  readonly once: Once;
  readonly now: () => number;
  viewer(): Viewer;
  store(): Store;
  lineage(): LineageStore;
  hub(): EventHub;
  milestones(): Milestones;
  /** What the lineage knows of a record. Where it need not ask for it, whoever keeps the answer hears of changes. */
  linksOf(child: string): Promise<readonly Link[]>;
  /** Adds to the lineage, which asks nothing of it. */
  readonly remember: LineageStore['record'];
  /** Whoever shows a patient's record says so here, and whoever does not show it too. */
  readonly audit: OperationAudit | undefined;
  readonly isAuditKept: () => boolean;
  readonly door: Door;
  /** Spans of fields that may cost calls, where the operation is traced. */
  readonly trace: OperationTrace | undefined;
  /** The event log's position when the operation began. */
  readonly beganAt: Position;
  /** Pages this operation has read: the first place where a search looks. */
  readonly seenPages: Map<Page<{ readonly id: string }>, ListRef>;
  /** Searches and proofs, each made once an operation. */
  lookups(): Map<string, Promise<FoundRow | undefined>>;
  proofs(): Map<string, Loaded<boolean>>;
  /** True once the answer depends on the log, the lineage or the clock, in a way that nobody would hear of. */
  readonly isBeyondRest: boolean;
}

/** A record, and functions over it: there is one for each operation, and closures of its own would cost it dearly. */
interface OperationContext extends Context {
  readonly house: House;
  readonly asking: Viewer;
  searched: ReturnType<Context['lookups']> | undefined;
  proven: ReturnType<Context['proofs']> | undefined;
  isBeyondRest: boolean;
}

export function createContext(
  house: House,
  viewer: Viewer,
  usage: Usage,
  door: Door,
  operation: { readonly name: string | undefined; readonly id?: string },
  trace?: OperationTrace,
): Context {
  const context: OperationContext = {
    reach: reachOf(viewer),
    usage,
    loaders: house.partner.loadersFor(usage),
    partner: house.partner,
    cursors: house.cursors,
    freshness: house.freshness,
    once: house.once,
    now: house.now,
    remember: house.store.lineage.record,
    audit: house.audit?.begin(viewer.subject, operation.name, operation.id),
    isAuditKept: house.isAuditKept,
    door,
    trace,
    beganAt: house.hub.position,
    seenPages: new Map(),
    house,
    asking: viewer,
    searched: undefined,
    proven: undefined,
    isBeyondRest: false,
    viewer: viewerOf,
    store: storeOf,
    lineage: lineageOf,
    hub: hubOf,
    milestones: milestonesOf,
    linksOf,
    lookups: lookupsOf,
    proofs: proofsOf,
  };
  return context;
}

function beyondRest(context: OperationContext): House {
  context.isBeyondRest = true;
  return context.house;
}

function viewerOf(this: OperationContext): Viewer {
  return this.asking;
}

function storeOf(this: OperationContext): Store {
  return beyondRest(this).store;
}

function lineageOf(this: OperationContext): LineageStore {
  return beyondRest(this).store.lineage;
}

function hubOf(this: OperationContext): EventHub {
  return beyondRest(this).hub;
}

function milestonesOf(this: OperationContext): Milestones {
  return beyondRest(this).milestones;
}

function lookupsOf(this: OperationContext): ReturnType<Context['lookups']> {
  return (this.searched ??= new Map());
}

function proofsOf(this: OperationContext): ReturnType<Context['proofs']> {
  return (this.proven ??= new Map());
}

async function linksOf(this: OperationContext, child: string): Promise<readonly Link[]> {
  const kept = this.house.store.lineage.kept(child);
  if (!kept) {
    const [links = []] = await this.lineage().parentsOf([child]);
    return links;
  }
  this.usage.proofs.add(kept);
  return kept.value;
}
