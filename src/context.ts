import type { Answer } from './answer.ts';
import type { CursorCodec } from './connection/cursor.ts';
import type { Page } from './connection/page.ts';
import type { EventHub } from './events/event-hub.ts';
import type { Milestones } from './store/milestones.ts';
import type { Freshness } from './freshness.ts';
import type { Loaded } from './loaded.ts';
import type { OperationTrace } from './observe/tracing.ts';
import type { Audit } from './observe/audit.ts';
import type { OperationAudit } from './observe/operation-audit.ts';
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
  /** What the lineage knows of a record. Where it need not ask for it, whoever keeps the answer hears of changes. */
  linksOf(child: string): Promise<readonly Link[]>;
  /** Adds to the lineage, which asks nothing of it. */
  readonly remember: LineageStore['record'];
  readonly freshness: Freshness;
  readonly once: Once;
  readonly now: () => number;
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
  readonly lookups: Map<string, Promise<FoundRow | undefined>>;
  readonly proofs: Map<string, Loaded<boolean>>;
  /** True once the answer depends on more than the Partner API's own: on the log, the lineage or the clock. */
  readonly isBeyondRest: boolean;
  /** Makes a part of the answer, at once, and tells what it was made of. */
  recorded<T>(make: () => T): Recorded<T>;
}

export interface Recorded<T> {
  readonly made: T;
  readonly answers: ReadonlySet<Answer>;
  /** Records of patients that are in it. */
  readonly seen: ReadonlySet<string>;
  /** False if anything but those answers and the viewer's reach had a say in it. */
  readonly isOfRest: boolean;
}

export function createContext(
  house: House,
  viewer: Viewer,
  usage: Usage,
  door: Door,
  operation: { readonly name: string | undefined; readonly id?: string },
  trace?: OperationTrace,
): Context {
  const audit = house.audit?.begin(viewer.subject, operation.name, operation.id);
  return new OperationContext(house, viewer, usage, door, audit, trace);
}

/** A class, since there is one for each operation: getters of an object literal are made anew with it, and slowly. */
class OperationContext implements Context {
  readonly reach: Reach;
  readonly usage: Usage;
  readonly loaders: Loaders;
  readonly partner: Partner;
  readonly remember: LineageStore['record'];
  readonly cursors: CursorCodec;
  readonly freshness: Freshness;
  readonly once: Once;
  readonly now: () => number;
  readonly audit: OperationAudit | undefined;
  readonly isAuditKept: () => boolean;
  readonly door: Door;
  readonly trace: OperationTrace | undefined;
  readonly beganAt: Position;
  readonly #house: House;
  readonly #viewer: Viewer;
  #seenPages: Context['seenPages'] | undefined;
  #lookups: Context['lookups'] | undefined;
  #proofs: Context['proofs'] | undefined;
  #isBeyondRest = false;
  /** What a proof or a search rests on is told once an operation, and so not in every part that it is used in. */
  #isPartOfRest = true;

  constructor(
    house: House,
    viewer: Viewer,
    usage: Usage,
    door: Door,
    audit: OperationAudit | undefined,
    trace: OperationTrace | undefined,
  ) {
    this.reach = reachOf(viewer);
    this.usage = usage;
    this.loaders = house.partner.loadersFor(usage);
    this.partner = house.partner;
    this.remember = house.store.lineage.record;
    this.cursors = house.cursors;
    this.freshness = house.freshness;
    this.once = house.once;
    this.now = house.now;
    this.audit = audit;
    this.isAuditKept = house.isAuditKept;
    this.door = door;
    this.trace = trace;
    this.beganAt = house.hub.position;
    this.#house = house;
    this.#viewer = viewer;
  }

  get viewer(): Viewer {
    this.#isPartOfRest = false;
    return this.#viewer;
  }

  get store(): Store {
    return this.#beyondRest().store;
  }

  get lineage(): LineageStore {
    return this.#beyondRest().store.lineage;
  }

  get hub(): EventHub {
    return this.#beyondRest().hub;
  }

  get milestones(): Milestones {
    return this.#beyondRest().milestones;
  }

  get seenPages(): Context['seenPages'] {
    return (this.#seenPages ??= new Map());
  }

  get lookups(): Context['lookups'] {
    this.#isPartOfRest = false;
    return (this.#lookups ??= new Map());
  }

  get proofs(): Context['proofs'] {
    this.#isPartOfRest = false;
    return (this.#proofs ??= new Map());
  }

  get isBeyondRest(): boolean {
    return this.#isBeyondRest;
  }

  async linksOf(child: string): Promise<readonly Link[]> {
    const kept = this.#house.store.lineage.kept(child);
    if (!kept) {
      const [links = []] = await this.lineage.parentsOf([child]);
      return links;
    }
    this.#isPartOfRest = false;
    this.usage.proofs.add(kept);
    return kept.value;
  }

  #beyondRest(): House {
    this.#isBeyondRest = true;
    this.#isPartOfRest = false;
    return this.#house;
  }

  recorded<T>(make: () => T): Recorded<T> {
    const { usage, audit } = this;
    const [answers, seen, missing] = [usage.answers, audit?.seen, audit?.missing];
    const part = {
      answers: new Set<Answer>(),
      seen: new Set<string>(),
      missing: new Set<string>(),
    };
    usage.answers = part.answers;
    if (audit) [audit.seen, audit.missing] = [part.seen, part.missing];
    this.#isPartOfRest = true;
    try {
      const made = make();
      return { made, ...part, isOfRest: this.#isPartOfRest && part.missing.size === 0 };
    } finally {
      for (const answer of part.answers) answers.add(answer);
      for (const name of part.seen) seen?.add(name);
      for (const name of part.missing) missing?.add(name);
      usage.answers = answers;
      if (audit && seen && missing) [audit.seen, audit.missing] = [seen, missing];
    }
  }
}
