import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StoreUnavailable } from '../../../src/errors.ts';
import type {
  EventLog,
  NewEvent,
  Store,
  StoreOptions,
  StoredEvent,
} from '../../../src/store/store.ts';
import { openRedis } from '../../../src/store/redis/open.ts';
import { openEmbedded } from '../../../src/store/sqlite/open.ts';
import { redisAvailable, startRedis } from '../redis-server.ts';

export interface Engine extends AsyncDisposable {
  /** As many stores as instances would open: embedded, they are all the same one. */
  open(instances?: number, settings?: Partial<StoreOptions>): Promise<readonly [Store, ...Store[]]>;
  /** Closes what is open and opens it once more, as a restart does. */
  reopen(settings?: Partial<StoreOptions>): Promise<Store>;
}

export const DAY_MS = 24 * 3_600_000;

function createEngine(
  openOne: (settings: StoreOptions) => Promise<Store>,
  shared: boolean,
  cleanUp: () => Promise<void>,
): Engine {
  let stores: Store[] = [];

  async function close() {
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    stores = [];
  }

  const open: Engine['open'] = async (instances = 1, settings = {}) => {
    const all = { retentionMs: 7 * DAY_MS, ...settings };
    const first = await openOne(all);
    const others = Array.from({ length: instances - 1 }, async () =>
      shared ? openOne(all) : first,
    );
    const opened = [first, ...(await Promise.all(others))] as const;
    stores.push(...new Set(opened));
    return opened;
  };

  return {
    open,
    async reopen(settings) {
      await close();
      const [store] = await open(1, settings);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await close();
      await cleanUp();
    },
  };
}

async function embedded(): Promise<Engine> {
  const dir = await mkdtemp(join(tmpdir(), 'store-'));
  return createEngine(
    (settings) => openEmbedded(dir, settings),
    false,
    () => rm(dir, { recursive: true, force: true }),
  );
}

async function redis(): Promise<Engine> {
  const server = await startRedis();
  return createEngine(
    (settings) => openRedis(server.url, settings),
    true,
    async () => server[Symbol.asyncDispose](),
  );
}

export const engines = [
  { name: 'embedded', create: embedded },
  ...(redisAvailable ? [{ name: 'redis', create: redis }] : []),
] as const;

export const eventOf = (key: string, more: Partial<NewEvent> = {}): NewEvent => ({
  key,
  receivedAt: Date.now(),
  body: JSON.stringify({ key }),
  ...more,
});

/** `from` to `to`, both included. */
export const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

/** Reads continuously, as the hub does. Throws when the log was replaced, or trimmed past the position. */
export async function* follow(
  log: EventLog,
  after: number,
  epoch: string,
): AsyncGenerator<readonly StoredEvent[], never> {
  for (let position = after; ;) {
    try {
      const page = await log.read(position, 256);
      if (page.epoch !== epoch || position > page.newest) throw new Error('replaced');
      if (position < page.oldest) throw new Error('trimmed');
      position += page.events.length;
      if (page.events.length > 0) yield page.events;
      else await log.changed(position);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

export const epochOf = async (log: EventLog): Promise<string> => (await log.bounds()).epoch;
