import { PAGE_SIZE, type Page } from '../page.ts';
import { isObject } from './json.ts';
import type { ReadRow } from './records.ts';

/** What GraphQL's Int can hold: `totalCount` is one. */
const MOST_ROWS = 2_147_483_647;

/** Undefined if it is no page, or not the page that was asked for. */
export function readPage<T>(body: unknown, page: number, readRow: ReadRow<T>): Page<T> | undefined {
  if (!isObject(body) || !isObject(body['meta']) || !Array.isArray(body['data'])) return undefined;
  const { totalItems: total, currentPage } = body['meta'];
  if (typeof total !== 'number' || !Number.isInteger(total)) return undefined;
  if (total < 0 || total > MOST_ROWS) return undefined;

  // An API that answers a page past the end with its last one would repeat rows.
  const isPastEnd = page > Math.max(1, Math.ceil(total / PAGE_SIZE));
  if (isPastEnd) return { rows: [], total, page };

  if (typeof currentPage === 'number' && currentPage !== page) return undefined;
  if (body['data'].length > PAGE_SIZE) return undefined;
  const rows = body['data'].map((row: unknown) => (isObject(row) ? readRow(row) : undefined));
  return { rows, total, page };
}
