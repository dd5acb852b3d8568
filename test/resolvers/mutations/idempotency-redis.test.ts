import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { changes, codesOf, countOf, magicEdit } from '../../support/mutation/edits.ts';
import { type RedisServer, redisAvailable, startRedis } from '../../support/redis-server.ts';

describe.skipIf(!redisAvailable)('an idempotency key, over two instances', () => {
  let redis: RedisServer;
  let one: Gateway;
  let two: Gateway;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    one = await openGateway({ env, switches: { newNoteIdEvery: 0 } });
    two = await openGateway({ env, sandbox: one.sandbox });
  });
  afterAll(async () => {
    await two.close();
    await one.close();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(() => one.sandbox.resetCounts());

  it('turns twenty mutations into one call, with twenty equal results', async () => {
    const noteId = one.sandbox.ids.note(0, 0);
    one.sandbox.answerNext(changes.magicEdit.route, { delayMs: 100, body: { nth: 1 } });
    const calls = Array.from({ length: 20 }, (_, n) =>
      magicEdit(n % 2 ? one : two, noteId, { idempotencyKey: 'twenty' }),
    );
    const results = (await Promise.all(calls)).map(({ result }) => JSON.stringify(result));
    expect(new Set(results).size).toBe(1);
    expect(JSON.parse(results[0] ?? '')).toMatchObject({ raw: { nth: 1 } });
    expect(countOf(one, 'magicEdit')).toBe(1);
  });

  it('sends nothing again for an instance that seems to have crashed during the call', async () => {
    const noteId = one.sandbox.ids.note(0, 1);
    const key = { idempotencyKey: 'died' };
    one.sandbox.answerNext(changes.magicEdit.route, { delayMs: 1_000, body: {} });
    const dying = magicEdit(one, noteId, key);
    await expect.poll(() => countOf(one, 'magicEdit')).toBe(1);
    makeClaimsOlder(redis);
    expect(codesOf(await magicEdit(two, noteId, key))).toEqual(['OUTCOME_UNKNOWN']);
    expect(countOf(one, 'magicEdit')).toBe(1);
    expect((await dying).result.type).toBe('ProgressNoteChange');
  });
});

/** Backdates the running claim by a minute. */
function makeClaimsOlder(redis: RedisServer): void {
  for (const name of redis.cli('KEYS', '*once:*').split('\n')) {
    const claim = JSON.parse(redis.cli('GET', name)) as { state: string; since: number };
    if (claim.state !== 'running') continue;
    redis.cli('SET', name, JSON.stringify({ ...claim, since: claim.since - 60_000 }), 'KEEPTTL');
  }
}
