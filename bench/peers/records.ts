import DataLoader from 'dataloader';
import { LRUCache } from 'lru-cache';

import { getByRequest } from '../targets/get-json.ts';
import { PAGE_SIZE } from '../world.ts';

/**
 * What all peers read through, as their guides teach it: a bounded pool, a DataLoader a request, and a shared LRU
 * with the gateway's five seconds. So that what differs between them is the server.
 */
interface Page {
  readonly data: readonly Row[];
  readonly meta: { readonly totalItems: number };
}
export interface Row {
  readonly id: string;
  readonly sessionId: string;
  readonly firstName: string;
  readonly lastName: string;
}
export interface Note {
  readonly progressNoteId: string;
  readonly isLoading: boolean;
  readonly note: readonly unknown[];
}

const TTL_MS = 5_000;
const get = getByRequest(new URL(process.env['PARTNER_BASE_URL'] ?? ''));
const cached = new LRUCache<string, object>({ max: 100_000, ttl: TTL_MS });

async function read(path: string): Promise<object> {
  const known = cached.get(path);
  if (known) return known;
  const body: object = await get(path);
  cached.set(path, body);
  return body;
}

export interface Records {
  note(id: string): Promise<Note>;
  noteOfSession(sessionId: string): Promise<Note>;
  rows(path: string, first: number): Promise<readonly Row[]>;
}

export function createRecords(): Records {
  const loader = new DataLoader<string, object>((paths) => Promise.all(paths.map(read)));
  const page = (path: string, number: number) =>
    loader.load(`${path}?page=${number}`) as Promise<Page>;

  return {
    note: (id) => loader.load(`/progress-notes/${id}`) as Promise<Note>,
    noteOfSession: (id) => loader.load(`/sessions/${id}/progress-note`) as Promise<Note>,
    async rows(path, first) {
      const head = await page(path, 1);
      const last = Math.ceil(Math.min(first, head.meta.totalItems) / PAGE_SIZE);
      const rest = await Promise.all(
        Array.from({ length: Math.max(0, last - 1) }, (_, i) => page(path, i + 2)),
      );
      return [head, ...rest].flatMap(({ data }) => data).slice(0, first);
    },
  };
}
