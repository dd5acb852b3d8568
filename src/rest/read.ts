import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { LIST_TTL_MS, partnerKind } from './kinds.ts';
import type { Kind } from './kinds.ts';
import { listKeyOf, lists, pathOf } from './lists.ts';
import type { ListName, ListRef, RecordOf } from './lists.ts';
import { readPage } from './page.ts';
import type { Page } from '../page.ts';
import { paths } from './routes.ts';

/** One GET: what is asked, and under which key its answer is shared. */
export interface Read<T> {
  readonly kind: Kind<T>;
  /** The path and its query. */
  readonly key: string;
  /** The path alone: what `forget` names. */
  readonly path: string;
  /** Undefined if the body is not what the route promises. */
  read(body: unknown): T | undefined;
  readonly list?: {
    /** The list with its filter, whatever the page. */
    readonly key: string;
    totalOf(value: T): number;
    gapsIn(value: T): number;
  };
}

export function pageKeyOf(listKey: string, page: number): string {
  return `${listKey}${listKey.includes('?') ? '&' : '?'}page=${page}`;
}

export function readOfPage<N extends ListName>(
  ref: ListRef<N>,
  page: number,
): Read<Page<RecordOf<N>>> {
  const { readRow, template } = lists[ref.name];
  const listKey = listKeyOf(ref);
  return {
    kind: { template, ttlMs: () => LIST_TTL_MS },
    key: pageKeyOf(listKey, page),
    path: pathOf(ref),
    read: (body) => readPage(body, page, readRow),
    list: {
      key: listKey,
      totalOf: (value) => value.total,
      gapsIn: (value) => value.rows.filter((row) => row === undefined).length,
    },
  };
}

export const readOfPartner: Read<JsonObject> = {
  kind: partnerKind,
  key: paths.partner(),
  path: paths.partner(),
  read: (body) => (isObject(body) ? body : undefined),
};
