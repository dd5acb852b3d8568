import DataLoader from 'dataloader';
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

/** What one operation reads. Within it the same question has the same answer. What is cached is answered synchronously. */
export interface Loaders {
  page<N extends ListName>(
    list: ListRef<N>,
    page: number,
    options?: LoadOptions,
  ): Loaded<Page<RecordOf<N>>>;
  /** The list's length as last seen, if remembered: a hint that lives far longer than the rows. */
  totalOf(list: ListRef): number | undefined;
  /** Undefined if there is none. */
  note(id: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined>;
  noteOfSession(sessionId: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined>;
  transcript(sessionId: Uuid, options?: LoadOptions): Loaded<TranscriptRecord | NotReady>;
  mdm(sessionId: Uuid, options?: LoadOptions): Loaded<MdmRecord | NotReady>;
  score(id: Uuid, options?: ScoreOptions): Loaded<ScoreRecord | undefined>;
  partner(options?: LoadOptions): Loaded<JsonObject>;
}

interface Request extends Target {
  readonly isFresh: boolean;
}

type Loader = DataLoader<Request, unknown, string>;

/** One DataLoader for each kind of record, made when first used. New for each operation and each delivered event. */
export class OperationLoaders implements Loaders {
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
    const { id, name } = list;
    const found = this.find(key, options);
    if (found) return found.value as Page<RecordOf<N>>;
    return this.load(
      { endpoint: lists[name], id, key, path: pathOf(list), page, listKey },
      options,
    );
  }

  totalOf(list: ListRef): number | undefined {
    return this.client.cache.totalOf(listKeyOf(list));
  }

  note(id: Uuid, options?: LoadOptions) {
    return this.record(endpoints.note, id, options);
  }

  noteOfSession(sessionId: Uuid, options?: LoadOptions) {
    return this.record(endpoints.noteOfSession, sessionId, options);
  }

  transcript(sessionId: Uuid, options?: LoadOptions) {
    return this.record(endpoints.transcript, sessionId, options);
  }

  mdm(sessionId: Uuid, options?: LoadOptions) {
    return this.record(endpoints.mdm, sessionId, options);
  }

  score(id: Uuid, options?: ScoreOptions): Loaded<ScoreRecord | undefined> {
    const score = this.record(endpoints.score, id, options);
    const clientId = options?.clientId;
    if (clientId === undefined) return score;
    return Promise.resolve(score).then((found) => this.scoreOf(clientId, found));
  }

  partner(options?: LoadOptions): Loaded<JsonObject> {
    return this.record(endpoints.partner, undefined, options);
  }

  private scoreOf(clientId: Uuid, score: ScoreRecord | undefined): ScoreRecord | undefined {
    if (!score?.clientId || score.clientId === clientId) return score;
    const { path, template } = endpoints.score;
    this.client.invalidate(path(score.id));
    this.client.parts.observer.otherRecord?.(template);
    throw new PartnerContractBroken(template, "the answer is about another client's record");
  }

  private record<T>(endpoint: Endpoint<T>, id: Uuid | undefined, options?: LoadOptions): Loaded<T> {
    const path = endpoint.path(id);
    const found = this.find(path, options);
    if (found) return found.value as T;
    return this.load({ endpoint, id, key: path, path, page: 0, listKey: undefined }, options);
  }

  /** What is here already. The key names the endpoint, and with it the type of what is found under it. */
  private find(key: string, options: LoadOptions | undefined): CacheEntry | undefined {
    if (options?.fresh) {
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

  private load<T>(target: Target<T>, options: LoadOptions | undefined): Promise<T> {
    const loader = this.loaderOf(target.endpoint);
    const isFresh = options?.fresh === true;
    const request: Request = { ...target, isFresh };
    if (isFresh) loader.clear(request);
    return loader.load(request) as Promise<T>;
  }

  /** Without batches: the API takes none, and a batch would make all keys wait for the slowest. */
  private loaderOf(endpoint: Endpoint<unknown>): Loader {
    const known = this.loaders.get(endpoint);
    if (known) return known;
    const loader: Loader = new DataLoader(([request]) => this.fetch(request), {
      batch: false,
      batchScheduleFn: queueMicrotask,
      cacheKeyFn: ({ key }) => key,
    });
    this.loaders.set(endpoint, loader);
    return loader;
  }

  private async fetch(request: Request | undefined): Promise<unknown[]> {
    if (!request) return [];
    try {
      const entry = await this.client.get(request, this.usage, request.isFresh);
      this.use(entry);
      return [entry.value];
    } catch (error) {
      return [error];
    }
  }

  private use(entry: CacheEntry): void {
    this.usage.entries.add(entry);
    // A call that a fresh one overtook must not put the older answer back.
    if (this.client.cache.isCurrent(entry) || !this.known.has(entry.key)) {
      this.known.set(entry.key, entry);
    }
  }
}
