import { describe, expect, it } from 'vitest';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { killRound, tally } from '../support/store/kill-round.ts';

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 2);

describe.skipIf(!redisAvailable)('after a kill at any moment', () => {
  it(
    'the log on Redis holds every acknowledged event exactly once',
    async () => {
      await using server = await startRedis();
      const options = { kind: 'redis', url: server.url } as const;
      const acknowledged = new Set<string>();
      for (let round = 1; round <= ROUNDS; round += 1) {
        const killed = await killRound(options, `round-${round}`, Math.random);
        expect(killed.signal).toBe('SIGKILL');
        for (const key of killed.acknowledged) acknowledged.add(key);
      }
      expect(acknowledged.size).toBeGreaterThanOrEqual(ROUNDS);
      expect(await tally(options, acknowledged)).toMatchObject({ lost: 0, repeated: 0 });
    },
    60_000 + ROUNDS * 5_000,
  );
});
