import DataLoader from 'dataloader';
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
import type { Answer, Usage } from './usage.ts';

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
  const known = new Map<string, Answer>();
  const pending = new Map<string, Promise<unknown>>();

  const use = (key: string, answer: Answer): unknown => {
    usage.answers.add(answer);
    // A call that a fresh one overtook must not put the older answer back.
    if (answer.valid || !known.has(key)) known.set(key, answer);
    return answer.value;
  };

  const answerTo = async ([request]: readonly Request[]): Promise<unknown[]> => {
    if (!request) return [];
    try {
      const { read, isFresh } = request;
      return [use(read.key, await reads.load(read, usage, isFresh))];
    } catch (error) {
      return [error];
    }
  };
  // The API takes no batches, and a batch here would make all keys wait for the slowest. What is left is
  // one answer a key, failures included.
  const openLoader = () =>
    new DataLoader<Request, unknown, string>(answerTo, {
      batch: false,
      batchScheduleFn: queueMicrotask,
      cacheKeyFn: ({ read }) => read.key,
      cacheMap: pending,
    });
  let loader: ReturnType<typeof openLoader> | undefined;

  const find = (key: string, isFresh: boolean, readOf: () => Read<unknown>): unknown => {
    if (isFresh) {
      known.delete(key);
      pending.delete(key);
    } else {
      const answer = known.get(key);
      if (answer) {
        // Again: the part that is being made may be another one.
        usage.answers.add(answer);
        return answer.value;
      }
      const underway = pending.get(key);
      if (underway) return underway;
      const cached = reads.cached(key);
      if (cached) {
        usage.cached += 1;
        return use(key, cached);
      }
    }
    // Most operations find all they want in the cache.
    return (loader ??= openLoader()).load({ read: readOf(), isFresh });
  };
  /** The key names the kind, and with it the type of what is found under it. */
  const load = <T>(key: string, isFresh: boolean, readOf: () => Read<T>): Loaded<T> =>
    find(key, isFresh, readOf) as Loaded<T>;

  const one = <T>(kind: RecordKind<T>, path: string, id: Uuid, options?: LoadOptions) =>
    load(path, options?.fresh === true, () => {
      return { kind, key: path, path, read: (body) => kind.read(body, id) };
    });

  return {
    page: (list, page, options) =>
      load(pageKeyOf(listKeyOf(list), page), options?.fresh === true, () => readOfPage(list, page)),
    totalOf: (list) => reads.totalOf(listKeyOf(list)),
    note: (id, options) => one(noteKind, paths.note(id), id, options),
    noteOfSession: (id, options) => one(noteOfSessionKind, paths.noteOfSession(id), id, options),
    transcript: (id, options) => one(transcriptKind, paths.transcript(id), id, options),
    mdm: (id, options) => one(mdmKind, paths.mdm(id), id, options),
    score: (id, options) => one(scoreKind, paths.score(id), id, options),
    partner: (options) => load(paths.partner(), options?.fresh === true, () => readOfPartner),
  };
}
