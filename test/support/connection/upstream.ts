import { CodedError } from '../../../src/errors.ts';
import { configureGlobal } from 'fast-check';

import { pageOf, type PagedList, PAGE_SIZE, type Page } from '../../../src/page.ts';
import { type CursorPosition, hashedIds, shortHash } from '../../../src/connection/cursor.ts';
import { loadConnection } from '../../../src/connection/connection.ts';
import type { WindowArgs } from '../../../src/connection/window.ts';
import { createSealer } from '../../../src/sealed-text.ts';

export interface Row {
  readonly id: string;
}

export interface OpenedList extends PagedList<Row> {
  /** The pages that cost a call, in the order of the requests. */
  readonly asked: number[];
}

interface OpenOptions {
  readonly hint?: number;
  readonly key?: string;
  /** Returns at once, as if all pages were cached. */
  readonly atOnce?: boolean;
  /** A page past the end fails instead of being empty. */
  readonly strict?: boolean;
  /** Pages that an earlier operation left in the cache. */
  readonly cache?: Map<number, Page<Row>>;
  /** Runs before each call is answered: the list may change in between. */
  readonly onCall?: (page: number) => void;
}

// The same cases in every run: a failure must come from the change under test.
configureGlobal({ seed: 19_700_101 });

const KEY = 'clients of a clinic';

export const cursors = createSealer<CursorPosition>('a secret for tests', 'list position');

export const rowsNamed = (names: readonly (string | number)[]): Row[] =>
  names.map((name) => ({ id: `row ${name}` }));

/** A list of the Partner API with `size` rows, numbered from 0. Its rows may be replaced at any time. */
export function createUpstream(size: number) {
  let clock = 0;
  const upstream = {
    rows: rowsNamed([...Array(size).keys()]) as (Row | undefined)[],
    pageNow(page: number): Page<Row> {
      const start = (page - 1) * PAGE_SIZE;
      return {
        rows: upstream.rows.slice(start, start + PAGE_SIZE),
        total: upstream.rows.length,
        page,
        requestedAt: (clock += 1),
      };
    },
    /** The list for one operation: no page is requested twice. */
    open(options: OpenOptions = {}): OpenedList {
      const memo = new Map<number, Promise<Page<Row>> | Page<Row>>(options.cache);
      const asked: number[] = [];
      const answer = (page: number): Promise<Page<Row>> | Page<Row> => {
        options.onCall?.(page);
        const now = upstream.pageNow(page);
        if (options.strict && page > 1 && now.rows.length === 0) return Promise.reject(notFound());
        return options.atOnce ? now : Promise.resolve(now);
      };
      const beganAt = clock;
      const requestedAt = new Map<number, number>();
      const loadPage = (page: number, since?: number) => {
        const isOld = (requestedAt.get(page) ?? 0) <= Math.max(since ?? 0, beganAt);
        const known = since !== undefined && isOld ? undefined : memo.get(page);
        if (known !== undefined) return known;
        asked.push(page);
        const loaded = options.atOnce ? answer(page) : (async () => answer(page))();
        memo.set(page, loaded);
        requestedAt.set(page, clock);
        return loaded;
      };
      const key = options.key ?? KEY;
      return { key, asked, loadPage, totalHint: () => options.hint };
    },
  };
  return upstream;
}

export type Upstream = ReturnType<typeof createUpstream>;

export function notFound() {
  return new CodedError('NOT_FOUND', 'no such page');
}

/** The cursor of the row at `offset`, as an operation gets it now. */
export function cursorAt(upstream: Upstream, offset: number): string {
  const { rows, total } = upstream.pageNow(pageOf(offset));
  return cursors.seal({ list: shortHash(KEY), offset, total, ids: hashedIds({ rows }) });
}

/** Opens a connection with all its rows. */
export const ask = async (args: WindowArgs, list: PagedList<Row>) =>
  loadConnection(args, 'rows', list, cursors);
