import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { readConfig } from '../src/config.ts';
import { redrive } from '../src/events/quarantine.ts';
import { openStore } from '../src/store/store.ts';

const SHOWN = 100;
const USAGE = `Usage:
  npm run quarantine            lists signed webhooks that were not understood, and events that could not be
                                handled: when and why, never what
  npm run quarantine -- replay  appends those that this version understands; the rest stays

With the embedded store (no REDIS_URL), stop the gateway first: only one process can open it.`;

const [command, ...more] = process.argv.slice(2);

try {
  if ((command !== undefined && command !== 'replay') || more.length > 0) throw new Error(USAGE);
  const { redisUrl, dataDir: dir = '', eventRetentionMs } = readConfig(process.env);
  if (!redisUrl && !dir)
    throw new Error('EVENT_STORE_DIR must be set: a sandbox without it keeps no events');
  if (!redisUrl && !existsSync(join(dir, 'events.db')))
    throw new Error(
      `EVENT_STORE_DIR must be the directory of a store, but ${resolve(dir)} has no events.db`,
    );
  await using store = await openStore(redisUrl, dir, { retentionMs: eventRetentionMs });
  if (command === 'replay') {
    const { deliveries, events, left } = await redrive(store);
    console.log(`${deliveries} replayed as ${events} new events; ${left} left`);
  } else {
    for (const { receivedAt, reason } of await store.quarantine.list(SHOWN)) {
      console.log(`${new Date(receivedAt).toISOString()}  ${reason}`);
    }
    console.log(`${await store.quarantine.count()} in quarantine`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
