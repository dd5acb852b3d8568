import { invalid } from './errors.ts';

const PAGE_SIZE = 10;

/** One page of a list whose rows are rendered only if they are on it. */
export function pageOf<T>(
  keys: readonly T[],
  query: URLSearchParams,
  render: (key: T) => unknown,
): { readonly data: unknown[]; readonly meta: object } {
  const currentPage = pageIn(query);
  const start = (currentPage - 1) * PAGE_SIZE;
  return {
    data: keys.slice(start, start + PAGE_SIZE).map((key) => render(key)),
    meta: {
      totalItems: keys.length,
      totalPages: Math.ceil(keys.length / PAGE_SIZE),
      itemsPerPage: PAGE_SIZE,
      currentPage,
    },
  };
}

function pageIn(query: URLSearchParams): number {
  const given = query.getAll('page');
  if (given.length === 0) return 1;
  const page = given.length === 1 && /^-?\d{1,9}$/.test(given[0] ?? '') ? Number(given[0]) : NaN;
  if (Number.isNaN(page)) throw invalid('page must be an integer number');
  if (page < 1) throw invalid('page must not be less than 1');
  return page;
}
