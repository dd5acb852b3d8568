import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';

import { PAGE_SIZE } from '../world.ts';
import { getByDispatch, getByRequest } from './get-json.ts';

/**
 * What one would write by hand for these workloads alone: no GraphQL, no cache, no viewer, no limits. It reads
 * pages as the gateway does: the first, then the rest side by side; all at once if the length is known.
 */
interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly totalItems: number };
}
interface Note {
  readonly progressNoteId: string;
  readonly isLoading: boolean;
  readonly note: readonly unknown[];
}
interface Client {
  readonly id: string;
  readonly firstName: string;
  readonly lastName: string;
}

const base = new URL(process.env['PARTNER_BASE_URL'] ?? '');
const get = process.env['CLIENT'] === 'dispatch' ? getByDispatch(base) : getByRequest(base);
const totals = new Map<string, number>();

async function rows<T>(path: string, first: number): Promise<readonly T[]> {
  const read = (page: number): Promise<Page<T>> => get(`${path}?page=${page}`);
  const pages = (from: number, total: number) => {
    const last = Math.ceil(Math.min(first, total) / PAGE_SIZE);
    return Array.from({ length: last - from + 1 }, (_, i) => from + i);
  };
  const known = totals.get(path);
  if (known !== undefined) {
    const all = await Promise.all(pages(1, known).map(read));
    return all.flatMap(({ data }) => data).slice(0, first);
  }
  const head = await read(1);
  totals.set(path, head.meta.totalItems);
  const rest = await Promise.all(pages(2, head.meta.totalItems).map(read));
  return [head, ...rest].flatMap(({ data }) => data).slice(0, first);
}

const noteOf = ({ progressNoteId, isLoading, note }: Note, full: boolean) =>
  full ? { progressNoteId, isLoading, note } : { progressNoteId, isLoading };

async function clinic(id: string, full: boolean) {
  const clients = await rows<Client>(`/clinics/${id}/clients`, 25);
  const nodes = await Promise.all(
    clients.map(async (client) => {
      const sessions = await rows<{ sessionId: string }>(`/clients/${client.id}/sessions`, 10);
      const withNotes = await Promise.all(
        sessions.map(async ({ sessionId }) => ({
          sessionId,
          progressNote: noteOf(await get(`/sessions/${sessionId}/progress-note`), full),
        })),
      );
      const { firstName, lastName } = client;
      return { clientId: client.id, firstName, lastName, sessions: { nodes: withNotes } };
    }),
  );
  return { clinic: { clients: { nodes } } };
}

async function answer(workload: string, id: string) {
  if (workload !== 'W1') return clinic(id, workload === 'W2');
  return { progressNote: noteOf(await get(`/progress-notes/${id}`), true) };
}

async function serve(req: IncomingMessage, res: ServerResponse, text: string): Promise<void> {
  const { variables } = JSON.parse(text) as { variables: { id: string } };
  const body = JSON.stringify({ data: await answer((req.url ?? '').slice(1), variables.id) });
  res.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  res.end(body);
}

createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    if (req.method === 'POST') void serve(req, res, Buffer.concat(chunks).toString());
    else res.end();
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');
