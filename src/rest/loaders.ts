import DataLoader from 'dataloader';
import { whenLoaded } from '../loaded.ts';
import type { Loaded } from '../loaded.ts';
import type { Page } from '../page.ts';
import type { Uuid } from '../uuid.ts';
import type {
  MdmRecord,
  NoteRecord,
  NotReady,
  ScoreRecord,
  TranscriptRecord,
} from './artifacts.ts';
import type { CacheEntry } from './cache.ts';
import type { Client, Target } from './client/client.ts';
import { endpoints } from './endpoints.ts';
import type { Endpoint } from './endpoints.ts';
import { PartnerContractBroken } from './errors.ts';
import type { JsonObject } from './json.ts';
import { listKeyOf, lists, pageKeyOf, pathOf } from './lists.ts';
import type { ListName, ListRef, RecordOf } from './lists.ts';
import type { Usage } from './usage.ts';

export type { Page } from '../page.ts';

export interface LoadOptions {
  /** Past every cache, and past calls that began earlier. */
  readonly fresh?: boolean;
}

export interface ScoreOptions extends LoadOptions {
  /** Whose it should be: a score that says it is another client's is a bad response. */
  readonly clientId?: Uuid | undefined;
}

const NOTHING = Promise.resolve([]);
const errorsOf = (error: unknown) => [error];

type Loader = DataLoader<Target, unknown, string>;

/**
 * What one operation, or one delivered event, reads: a DataLoader for each kind of record, made when first used. Within
 * an operation the same question has the same answer; what is cached is answered synchronously.
 */
export class Loaders {
  private readonly client: Client;
  private readonly usage: Usage;
  /** What was answered, to be answered again without a promise. */
  private readonly known = new Map<string, CacheEntry>();
  private readonly loaders = new Map<Endpoint<unknown>, Loader>();

  constructor(client: Client, usage: Usage) {
    this.client = client;
    this.usage = usage;
  }

  page<N extends ListName>(
    list: ListRef<N>,
    page: number,
    options?: LoadOptions,
  ): Loaded<Page<RecordOf<N>>> {
    const listKey = listKeyOf(list);
    const key = pageKeyOf(listKey, page);
    const isFresh = options?.fresh === true;
    const found = this.find(key, isFresh);
    if (found) return found.value as Page<RecordOf<N>>;
    const endpoint = lists[list.name];
    return this.load({ endpoint, id: list.id, key, path: pathOf(list), page, listKey, isFresh });
  }

  /** The list's length as last seen, if remembered: a hint that lives far longer than the rows. */
  totalOf(list: ListRef): number | undefined {
    return this.client.cache.totalOf(listKeyOf(list));
  }

  /** Undefined if there is none. */
  note(id: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined> {
    return this.record(endpoints.note, id, options);
  }

  noteOfSession(sessionId: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined> {
    return this.record(endpoints.noteOfSession, sessionId, options);
  }

  transcript(sessionId: Uuid, options?: LoadOptions): Loaded<TranscriptRecord | NotReady> {
    return this.record(endpoints.transcript, sessionId, options);
  }

  mdm(sessionId: Uuid, options?: LoadOptions): Loaded<MdmRecord | NotReady> {
    return this.record(endpoints.mdm, sessionId, options);
  }

  score(id: Uuid, options?: ScoreOptions): Loaded<ScoreRecord | undefined> {
    const expected = options?.clientId;
    const score = this.record(endpoints.score, id, options);
    return expected ? whenLoaded(score, (found) => this.scoreOf(expected, found)) : score;
  }

  partner(options?: LoadOptions): Loaded<JsonObject> {
    return this.record(endpoints.partner, undefined, options);
  }

  private scoreOf(expected: Uuid, score: ScoreRecord | undefined): Loaded<ScoreRecord | undefined> {
    if (!score?.clientId || score.clientId === expected) return score;
    const { path, template } = endpoints.score;
    this.client.invalidate(path(score.id));
    this.client.parts.observer.otherRecord?.(template, this.usage.requestId);
    return Promise.reject(
      new PartnerContractBroken(template, 'the answer is about another client'),
    );
  }

  private record<T>(endpoint: Endpoint<T>, id: Uuid | undefined, options?: LoadOptions): Loaded<T> {
    const path = endpoint.path(id);
    const isFresh = options?.fresh === true;
    const found = this.find(path, isFresh);
    if (found) return found.value as T;
    return this.load({ endpoint, id, key: path, path, page: 0, listKey: undefined, isFresh });
  }

  /** What is here already. The key names the endpoint, and with it the type of what is found under it. */
  private find(key: string, isFresh: boolean): CacheEntry | undefined {
    if (isFresh) {
      this.known.delete(key);
      return undefined;
    }
    const known = this.known.get(key);
    if (known) {
      // Again: the part that is being made may be another one.
      this.usage.entries.add(known);
      return known;
    }
    const cached = this.client.cache.get(key);
    if (!cached) return undefined;
    this.usage.cached += 1;
    this.use(cached);
    return cached;
  }

  private load<T>(target: Target<T>): Promise<T> {
    const loader = this.loaderOf(target.endpoint);
    if (target.isFresh) loader.clear(target);
    return loader.load(target) as Promise<T>;
  }

  /** Without batches: the API takes none, and a batch would make all keys wait for the slowest. */
  private loaderOf(endpoint: Endpoint<unknown>): Loader {
    const made = this.loaders.get(endpoint);
    if (made) return made;
    const valuesOf = (entry: CacheEntry) => [this.use(entry)];
    const fetch = (target: Target) => this.client.get(target, this.usage).then(valuesOf, errorsOf);
    const loader: Loader = new DataLoader(([target]) => (target ? fetch(target) : NOTHING), {
      batch: false,
      batchScheduleFn: queueMicrotask,
      cacheKeyFn: ({ key }) => key,
    });
    this.loaders.set(endpoint, loader);
    return loader;
  }

  private use(entry: CacheEntry): unknown {
    this.usage.entries.add(entry);
    // A call that a fresh one overtook must not put the older answer back.
    if (!this.known.has(entry.key) || this.client.cache.isCurrent(entry)) {
      this.known.set(entry.key, entry);
    }
    return entry.value;
  }
}
