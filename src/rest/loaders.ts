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
import type { Page } from '../page.ts';
import { pageKeyOf, readOfPage, readOfPartner } from './read.ts';
import type { Read } from './read.ts';
import type { Reads } from './reads.ts';
import { paths } from './routes.ts';
import type { Usage } from './usage.ts';

export type { Page } from '../page.ts';

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

/** A record, and functions over it: there is one for each operation, and most use one or two of all these. */
interface OperationLoaders extends Loaders {
  readonly reads: Reads;
  readonly usage: Usage;
  readonly known: Map<string, Answer>;
  /** Most operations find all they want in the cache, and never have these two. */
  pending: Map<string, Promise<unknown>> | undefined;
  loader: DataLoader<Request, unknown, string> | undefined;
}

export function createLoaders(reads: Reads, usage: Usage): Loaders {
  const loaders: OperationLoaders = {
    reads,
    usage,
    known: new Map(),
    pending: undefined,
    loader: undefined,
    page: pageOf,
    totalOf,
    note,
    noteOfSession,
    transcript,
    mdm,
    score,
    partner,
  };
  return loaders;
}

function pageOf<N extends ListName>(
  this: OperationLoaders,
  list: ListRef<N>,
  page: number,
  options?: LoadOptions,
): Loaded<Page<RecordOf<N>>> {
  return load(this, pageKeyOf(listKeyOf(list), page), options, () => readOfPage(list, page));
}

function totalOf(this: OperationLoaders, list: ListRef): number | undefined {
  return this.reads.totalOf(listKeyOf(list));
}

function note(this: OperationLoaders, id: Uuid, options?: LoadOptions) {
  return one(this, noteKind, paths.note(id), id, options);
}

function noteOfSession(this: OperationLoaders, id: Uuid, options?: LoadOptions) {
  return one(this, noteOfSessionKind, paths.noteOfSession(id), id, options);
}

function transcript(this: OperationLoaders, id: Uuid, options?: LoadOptions) {
  return one(this, transcriptKind, paths.transcript(id), id, options);
}

function mdm(this: OperationLoaders, id: Uuid, options?: LoadOptions) {
  return one(this, mdmKind, paths.mdm(id), id, options);
}

function score(this: OperationLoaders, id: Uuid, options?: LoadOptions) {
  return one(this, scoreKind, paths.score(id), id, options);
}

function partner(this: OperationLoaders, options?: LoadOptions): Loaded<JsonObject> {
  return load(this, paths.partner(), options, () => readOfPartner);
}

function one<T>(
  loaders: OperationLoaders,
  kind: RecordKind<T>,
  path: string,
  id: Uuid,
  options?: LoadOptions,
): Loaded<T> {
  return load(loaders, path, options, () => {
    return { kind, key: path, path, read: (body) => kind.read(body, id) };
  });
}

/** The key names the kind, and with it the type of what is found under it. */
function load<T>(
  loaders: OperationLoaders,
  key: string,
  options: LoadOptions | undefined,
  readOf: () => Read<T>,
): Loaded<T> {
  return find(loaders, key, options?.fresh === true, readOf) as Loaded<T>;
}

function find(
  loaders: OperationLoaders,
  key: string,
  isFresh: boolean,
  readOf: () => Read<unknown>,
): unknown {
  const { known, pending, reads, usage } = loaders;
  if (isFresh) {
    known.delete(key);
    pending?.delete(key);
  } else {
    const answer = known.get(key);
    if (answer) {
      // Again: the part that is being made may be another one.
      usage.answers.add(answer);
      return answer.value;
    }
    const underway = pending?.get(key);
    if (underway) return underway;
    const cached = reads.cached(key);
    if (cached) {
      usage.cached += 1;
      return use(loaders, key, cached);
    }
  }
  loaders.loader ??= openLoader(loaders);
  return loaders.loader.load({ read: readOf(), isFresh });
}

function use({ known, usage }: OperationLoaders, key: string, answer: Answer): unknown {
  usage.answers.add(answer);
  // A call that a fresh one overtook must not put the older answer back.
  if (answer.valid || !known.has(key)) known.set(key, answer);
  return answer.value;
}

/**
 * The API takes no batches, and a batch here would make all keys wait for the slowest. What is left is one answer a
 * key, failures included.
 */
function openLoader(loaders: OperationLoaders): DataLoader<Request, unknown, string> {
  loaders.pending = new Map();
  return new DataLoader((requests: readonly Request[]) => answerTo(loaders, requests), {
    batch: false,
    batchScheduleFn: queueMicrotask,
    cacheKeyFn: ({ read }) => read.key,
    cacheMap: loaders.pending,
  });
}

async function answerTo(
  loaders: OperationLoaders,
  [request]: readonly Request[],
): Promise<unknown[]> {
  if (!request) return [];
  try {
    const { read, isFresh } = request;
    return [use(loaders, read.key, await loaders.reads.load(read, loaders.usage, isFresh))];
  } catch (error) {
    return [error];
  }
}
