import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisAvailable, startRedis } from '../test/support/redis-server.ts';
import { killRound, tally } from '../test/support/store/kill-round.ts';
import { amountOf } from './amount.ts';

/**
 * Repeatedly kills a process that appends, and counts acknowledged events that are not in the log.
 * `node scripts/kill-rounds.ts [rounds]`. Exits with code 1 if anything was lost or repeated, or a process ended before
 * it was killed.
 */
const rounds = amountOf('rounds', 50);
const dir = await mkdtemp(join(tmpdir(), 'kill-rounds-'));

async function report(name: string, redisUrl?: string, fault?: () => Promise<void>) {
  const acknowledged = new Set<string>();
  let kills = 0;
  for (let round = 1; round <= rounds; round++) {
    const result = await killRound(redisUrl, dir, `round-${round}`, Math.random, fault);
    // A process that ended by itself was not killed, so it proves nothing.
    if (result.signal === 'SIGKILL') kills++;
    for (const key of result.acknowledged) acknowledged.add(key);
  }
  const { events, lost, repeated } = await tally(redisUrl, dir, acknowledged);
  console.log(
    `${name}: ${kills} kills, ${acknowledged.size} acknowledged, ${events} in the log, ${lost} lost, ${repeated} repeated`,
  );
  if (lost + repeated > 0 || kills < rounds) process.exitCode = 1;
}

async function reportRedis(name: string, killsServer: boolean) {
  await using server = await startRedis();
  await report(name, server.url, async () => {
    if (!killsServer) return;
    await server.kill();
    await server.start();
  });
}

await report('embedded, the process killed');
await rm(dir, { recursive: true });

if (redisAvailable) {
  await reportRedis('Redis, the process killed', false);
  await reportRedis('Redis, the server killed, too', true);
} else {
  console.log('Redis: skipped, there is no redis-server here');
}
