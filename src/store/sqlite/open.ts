import { steadyNow } from '../../clock.ts';
import { inBackground } from '../background.ts';
import { type PlaceEngine, createPlaces } from '../places.ts';
import type { Bus, KeyStore, Quarantine, StoreSettings } from '../store.ts';
import { createEmbeddedLog } from './event-log.ts';
import type { Thread } from './thread.ts';
import { openThread } from './thread.ts';

/** There is one instance only. */
const emptyBus: Bus = {
  publish: () => Promise.resolve(),
  subscribe: () => () => {},
  onGap: () => {},
};

const CLEANUP_EVERY_MS = 60_000;

const placeEngine = ({ call }: Thread, clock: () => number): PlaceEngine => ({
  write: (changes) => call('writePlaces', changes, clock()),
  read: (clientId) => call('placesOf', clientId),
});

const keyStore = ({ call }: Thread, clock: () => number): KeyStore => ({
  claim: (key, value, ttlMs) => call('claim', key, value, clock(), clock() + ttlMs),
  put: (key, value, ttlMs) => call('putFact', key, value, clock() + ttlMs),
  get: (keys) => call('factsOf', keys, clock()),
  delete: (key) => call('deleteFact', key),
});

const quarantine = ({ call }: Thread): Quarantine => ({
  add: ({ receivedAt, reason, body }) => call('quarantine', receivedAt, reason, body),
  list: (limit) => call('quarantined', limit),
  remove: (id) => call('releaseQuarantined', id),
  count: () => call('countQuarantined'),
});

/** One process, one directory: SQLite with a write-ahead log, every answer after its fsync. */
export async function openEmbedded(dir: string, settings: StoreSettings) {
  const { retentionMs, clock = steadyNow, onProblem = () => {}, onBroken = () => {} } = settings;
  const thread = await openThread(dir, (reason) => {
    onProblem(reason);
    onBroken();
  });
  const log = createEmbeddedLog(thread, retentionMs, clock);
  const places = createPlaces(placeEngine(thread, clock));

  const cleanup = inBackground(
    CLEANUP_EVERY_MS,
    async () => {
      await log.trim();
      while (await thread.call('trimFacts', clock()));
      while (await thread.call('trimPlaces', clock()));
    },
    onProblem,
  );

  return {
    log,
    places,
    keys: keyStore(thread, clock),
    bus: emptyBus,
    quarantine: quarantine(thread),
    check: () => thread.call('touch', clock()),
    async [Symbol.asyncDispose]() {
      cleanup[Symbol.dispose]();
      await places.flush().catch(() => undefined);
      await thread.close();
    },
  };
}
