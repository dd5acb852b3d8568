import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StoreOptions } from '../../src/store/store.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { killRound, tally } from '../support/store/kill-round.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 2);

async function acknowledgedOver(options: StoreOptions, fault?: () => Promise<void>) {
  const acknowledged = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    const { signal, ...result } = await killRound(options, `round-${round}`, Math.random, fault);
    expect(signal).toBe('SIGKILL');
    for (const key of result.acknowledged) acknowledged.add(key);
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS);
  return acknowledged;
}

describe('after a kill at any moment', { timeout: 60_000 + ROUNDS * 5_000 }, () => {
  it('the embedded log holds every acknowledged event exactly once', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'store-'));
    const options = { kind: 'embedded', dir } as const;
    const acknowledged = await acknowledgedOver(options);
    expect(await tally(options, acknowledged)).toMatchObject({ lost: 0, repeated: 0 });
    await rm(dir, { recursive: true });
  });

  it.skipIf(!redisAvailable)(
    'the log on Redis holds every acknowledged event exactly once',
    async () => {
      await using server = await startRedis();
      const options = { kind: 'redis', url: server.url } as const;
      const acknowledged = await acknowledgedOver(options);
      expect(await tally(options, acknowledged)).toMatchObject({ lost: 0, repeated: 0 });
    },
  );

  it.skipIf(!redisAvailable)('the log on Redis does so when Redis itself is killed', async () => {
    await using server = await startRedis();
    const options = { kind: 'redis', url: server.url } as const;
    const acknowledged = await acknowledgedOver(options, async () => {
      await server.kill();
      await server.start();
    });
    expect(await tally(options, acknowledged)).toMatchObject({ lost: 0, repeated: 0 });
  });
});
