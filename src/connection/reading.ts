import { hasCode } from '../has-code.ts';
import { hashOfId } from './cursor.ts';
import type { Loaded } from './loaded.ts';
import { firstOffsetOf, PAGE_SIZE, type Page, type PagedList } from './page.ts';

/** The pages that one connection has read so far. */
export interface Reading<T> {
  /** As the newest answer has it; `undefined` until there is one. */
  total(): number | undefined;
  pages(): readonly number[];
  page(page: number): SeenPage<T> | undefined;
  /** Reads side by side those not read yet. */
  read(pages: readonly number[], options?: { readonly fresh?: boolean }): Loaded<unknown>;
  /** Whether no page read contradicts the newest total. */
  isSteady(): boolean;
  /** Forgets the pages that contradict the newest total, and says which; from then on the cache is not trusted. */
  dropOdd(): readonly number[];
}

export interface SeenPage<T> {
  readonly rows: readonly (T | undefined)[];
  /** `undefined`: the page was gone, and told nothing. */
  readonly total: number | undefined;
  /** The hashed ids of the rows, 0 for a row without one. */
  ids(): readonly number[];
}

/** A list that changes faster than it can be read is shown as it came, rather than read for ever. */
const MOST_ROUNDS = 3;

export function createReading<T>(list: PagedList<T>): Reading<T> {
  const seen = new Map<number, SeenPage<T>>();
  let total: number | undefined;
  let totalIsFresh = false;
  let rounds = 0;

  function keep(page: number, answer: SeenPage<T>, fresh: boolean) {
    // Several fields read at once: a late answer from the cache must not undo what was read past it.
    if (!fresh && seen.has(page)) return;
    seen.set(page, answer);
    if (answer.total === undefined || (totalIsFresh && !fresh)) return;
    total = answer.total;
    totalIsFresh = fresh;
  }

  const seenPage = (rows: SeenPage<T>['rows'], told: number | undefined): SeenPage<T> => ({
    rows,
    total: told,
    ids: () => idsOf(rows, list.idOf),
  });

  async function arrive(page: number, answer: Promise<Page<T>>, fresh: boolean) {
    try {
      const { rows, total: told } = await answer;
      keep(page, seenPage(rows, told), fresh);
    } catch (error) {
      if (page === 1 || !hasCode(error, 'NOT_FOUND')) throw error;
      keep(page, seenPage([], undefined), fresh);
    }
  }

  function load(page: number, fresh: boolean): Promise<void> | undefined {
    const answer = answerOf(list, page, fresh);
    if (answer instanceof Promise) return arrive(page, answer, fresh);
    keep(page, seenPage(answer.rows, answer.total), fresh);
    return undefined;
  }

  function isOdd([page, { total: told }]: [number, SeenPage<T>]): boolean {
    if (total === undefined) return false;
    return told === undefined ? firstOffsetOf(page) < total : told !== total;
  }

  return {
    total: () => total,
    pages: () => [...seen.keys()],
    page: (page) => seen.get(page),

    read(pages, { fresh = rounds > 0 } = {}) {
      const loads = pages
        .filter((page) => !seen.has(page))
        .map((page) => load(page, fresh))
        .filter((pending) => pending !== undefined);
      return loads.length > 0 ? Promise.all(loads) : undefined;
    },

    isSteady: () => ![...seen].some(isOdd),

    dropOdd() {
      if (rounds === MOST_ROUNDS) return [];
      const odd = [...seen].filter(isOdd).map(([page]) => page);
      if (odd.length > 0) rounds += 1;
      for (const page of odd) seen.delete(page);
      return odd;
    },
  };
}

/** Kept as long as a page's rows are: a page from the cache is hashed once for all operations that read it. */
const knownIds = new WeakMap<object, readonly number[]>();

function idsOf<T>(rows: SeenPage<T>['rows'], idOf: (row: T) => string): readonly number[] {
  const known = knownIds.get(rows);
  if (known !== undefined) return known;
  const hashOfRow = (row: T | undefined) => (row === undefined ? 0 : hashOfId(idOf(row)));
  const ids = rows.slice(0, PAGE_SIZE).map(hashOfRow);
  knownIds.set(rows, ids);
  return ids;
}

/** A failure that is known at once must not leave the pages asked beside it without anybody to wait for them. */
function answerOf<T>(list: PagedList<T>, page: number, fresh: boolean): Loaded<Page<T>> {
  try {
    return list.loadPage(page, fresh ? { fresh } : undefined);
  } catch (error) {
    return Promise.reject(error);
  }
}
