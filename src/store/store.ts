import type { Bus } from './bus.ts';
import type { EventLog } from './event-log.ts';
import type { KeyStore } from './key-store.ts';
import type { Places } from './places.ts';
import type { StoreOptions, StoreSettings } from './options.ts';
import type { Quarantine } from './quarantine.ts';

/** What must survive a crash and be shared between instances. */
export interface Store extends AsyncDisposable {
  readonly log: EventLog;
  readonly places: Places;
  readonly keys: KeyStore;
  readonly bus: Bus;
  readonly quarantine: Quarantine;
  /** Can it take a write now? Rejects with `StoreUnavailable` and a reason a person can act on. */
  check(): Promise<void>;
}

/** Imports the engine it was asked for only: neither SQLite nor the Redis client is loaded in vain. */
export async function openStore(options: StoreOptions, settings: StoreSettings): Promise<Store> {
  if (options.kind === 'embedded') {
    const { openEmbedded } = await import('./sqlite/open.ts');
    return openEmbedded(options.dir, settings);
  }
  const { openRedis } = await import('./redis/open.ts');
  return openRedis(options.url, settings);
}
