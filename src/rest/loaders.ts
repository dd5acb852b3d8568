import DataLoader from 'dataloader';
import type { Answer } from '../answer.ts';
import type { Uuid } from '../uuid.ts';
import type { MdmRecord, NotReady, ScoreRecord, TranscriptRecord } from './artifacts.ts';
import type { JsonObject } from './json.ts';
import { mdmKind, noteKind, noteOfSessionKind, scoreKind, transcriptKind } from './kinds.ts';
import type { RecordKind } from './kinds.ts';
import { listKeyOf } from './lists.ts';
import type { ListName, ListRef, RecordOf } from './lists.ts';
import type { NoteRecord } from './notes.ts';
import type { Page } from './page.ts';
import { pageKeyOf, readOfPage, readOfPartner } from './read.ts';
import type { Read } from './read.ts';
import type { Reads } from './reads.ts';
import { paths } from './routes.ts';
import type { Usage } from './usage.ts';

export type { Page } from './page.ts';

/** Synchronous from the cache: at hundreds of keys the promises would cost more than the work. */
export type Loaded<T> = T | Promise<T>;

export interface LoadOptions {
  /** Past every cache, and past calls that began earlier. */
  readonly fresh?: boolean;
}

/** What one operation reads. Within it the same question has the same answer. */
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
  score(id: Uuid, options?: LoadOptions): Loaded<ScoreRecord | undefined>;
  partner(options?: LoadOptions): Loaded<JsonObject>;
}

interface Request {
  readonly read: Read<unknown>;
  readonly isFresh: boolean;
}

export function createLoaders(reads: Reads, usage: Usage): Loaders {
  return new OperationLoaders(reads, usage);
}

/** A class, since there is one for each operation, and most use one or two of all these. */
class OperationLoaders implements Loaders {
  readonly #reads: Reads;
  readonly #usage: Usage;
  readonly #known = new Map<string, Answer>();
  // Most operations find all they want in the cache.
  #pending: Map<string, Promise<unknown>> | undefined;
  #loader: DataLoader<Request, unknown, string> | undefined;

  constructor(reads: Reads, usage: Usage) {
    this.#reads = reads;
    this.#usage = usage;
  }

  page<N extends ListName>(
    list: ListRef<N>,
    page: number,
    options?: LoadOptions,
  ): Loaded<Page<RecordOf<N>>> {
    return this.#load(pageKeyOf(listKeyOf(list), page), options, () => readOfPage(list, page));
  }

  totalOf(list: ListRef): number | undefined {
    return this.#reads.totalOf(listKeyOf(list));
  }

  note(id: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined> {
    return this.#one(noteKind, paths.note(id), id, options);
  }

  noteOfSession(id: Uuid, options?: LoadOptions): Loaded<NoteRecord | undefined> {
    return this.#one(noteOfSessionKind, paths.noteOfSession(id), id, options);
  }

  transcript(id: Uuid, options?: LoadOptions): Loaded<TranscriptRecord | NotReady> {
    return this.#one(transcriptKind, paths.transcript(id), id, options);
  }

  mdm(id: Uuid, options?: LoadOptions): Loaded<MdmRecord | NotReady> {
    return this.#one(mdmKind, paths.mdm(id), id, options);
  }

  score(id: Uuid, options?: LoadOptions): Loaded<ScoreRecord | undefined> {
    return this.#one(scoreKind, paths.score(id), id, options);
  }

  partner(options?: LoadOptions): Loaded<JsonObject> {
    return this.#load(paths.partner(), options, () => readOfPartner);
  }

  #one<T>(kind: RecordKind<T>, path: string, id: Uuid, options?: LoadOptions): Loaded<T> {
    return this.#load(path, options, () => {
      return { kind, key: path, path, read: (body) => kind.read(body, id) };
    });
  }

  /** The key names the kind, and with it the type of what is found under it. */
  #load<T>(key: string, options: LoadOptions | undefined, readOf: () => Read<T>): Loaded<T> {
    return this.#find(key, options?.fresh === true, readOf) as Loaded<T>;
  }

  #find(key: string, isFresh: boolean, readOf: () => Read<unknown>): unknown {
    if (isFresh) {
      this.#known.delete(key);
      this.#pending?.delete(key);
    } else {
      const answer = this.#known.get(key);
      if (answer) {
        // Again: the part that is being made may be another one.
        this.#usage.answers.add(answer);
        return answer.value;
      }
      const underway = this.#pending?.get(key);
      if (underway) return underway;
      const cached = this.#reads.cached(key);
      if (cached) {
        this.#usage.cached += 1;
        return this.#use(key, cached);
      }
    }
    return (this.#loader ??= this.#openLoader()).load({ read: readOf(), isFresh });
  }

  #use(key: string, answer: Answer): unknown {
    this.#usage.answers.add(answer);
    // A call that a fresh one overtook must not put the older answer back.
    if (answer.valid || !this.#known.has(key)) this.#known.set(key, answer);
    return answer.value;
  }

  /** The API takes no batches, and a batch here would make all keys wait for the slowest. What is left is one answer a key, failures included. */
  #openLoader(): DataLoader<Request, unknown, string> {
    this.#pending = new Map();
    return new DataLoader((requests: readonly Request[]) => this.#answerTo(requests), {
      batch: false,
      batchScheduleFn: queueMicrotask,
      cacheKeyFn: ({ read }) => read.key,
      cacheMap: this.#pending,
    });
  }

  async #answerTo([request]: readonly Request[]): Promise<unknown[]> {
    if (!request) return [];
    try {
      const { read, isFresh } = request;
      return [this.#use(read.key, await this.#reads.load(read, this.#usage, isFresh))];
    } catch (error) {
      return [error];
    }
  }
}
