import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Sandbox, openSandbox } from '../../../sandbox/sandbox.ts';
import { type Gateway, DETERMINISTIC, openGateway } from '../gateway.ts';
import { freePort } from '../free-port.ts';

export interface Restarting extends AsyncDisposable {
  readonly url: string;
  readonly sandbox: Sandbox;
  close(): Promise<void>;
  /** `fresh`: with a new, empty log. */
  open(how?: 'fresh'): Promise<void>;
  query: Gateway['query'];
}

/** A gateway that restarts on the same port, with the same log. Webhooks are retried in between. */
export async function openRestarting(): Promise<Restarting> {
  const sandbox = await openSandbox({ switches: DETERMINISTIC, firstRetryMs: 20 });
  const port = await freePort();
  const storeDirs: string[] = [];
  let gateway: Gateway | undefined;

  async function open(how?: 'fresh'): Promise<void> {
    if (how === 'fresh' || storeDirs.length === 0) {
      storeDirs.push(mkdtempSync(join(tmpdir(), 'partner-graph-')));
    }
    gateway = await openGateway({
      sandbox,
      storeDir: storeDirs.at(-1)!,
      env: { PORT: String(port) },
    });
    sandbox.deliverTo(`${gateway.url}/webhooks`);
  }
  async function close(): Promise<void> {
    await gateway?.close();
    gateway = undefined;
  }
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    sandbox,
    open,
    close,
    query: (...args) => gateway!.query(...args),
    async [Symbol.asyncDispose]() {
      await close();
      await sandbox.close();
      for (const dir of storeDirs) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The events after a cursor, in the order of the log. */
export async function logged(
  from: Restarting,
  after: string,
  types?: readonly string[],
): Promise<readonly string[]> {
  const page = `query($after: EventCursor, $types: [PartnerEventType!]) {
    events(first: 100, after: $after, filter: { types: $types }) {
      edges { cursor } pageInfo { hasNextPage endCursor } } }`;
  const cursors: string[] = [];
  for (let at = after; ;) {
    const { events } = (await from.query(page, { after: at, types })).data;
    cursors.push(...events.edges.map(({ cursor }: { cursor: string }) => cursor));
    if (!events.pageInfo.hasNextPage) return cursors;
    at = events.pageInfo.endCursor;
  }
}
