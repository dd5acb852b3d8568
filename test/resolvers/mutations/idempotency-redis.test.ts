import { setTimeout as delay } from 'node:timers/promises';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import { changes, codesOf, countOf, envelope, magicEdit } from '../../support/mutation/edits.ts';
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
    one.sandbox.answerNext(changes.magicEdit.route, { heldUntil: delay(100), body: { nth: 1 } });
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
    const answer = Promise.withResolvers<void>();
    one.sandbox.answerNext(changes.magicEdit.route, { heldUntil: answer.promise, body: {} });
    const dying = magicEdit(one, noteId, key);
    await expect.poll(() => countOf(one, 'magicEdit')).toBe(1);
    makeClaimsOlder(redis);
    expect(codesOf(await magicEdit(two, noteId, key))).toEqual(['OUTCOME_UNKNOWN']);
    expect(countOf(one, 'magicEdit')).toBe(1);
    answer.resolve();
    expect((await dying).result.type).toBe('ProgressNoteChange');
  });

  it('can be used on the other instance after Redis hung during the claim', async () => {
    const noteId = one.sandbox.ids.note(0, 2);
    const key = { idempotencyKey: 'hung' };
    process.kill(redis.pid, 'SIGSTOP');
    expect(codesOf(await magicEdit(one, noteId, key))).toEqual(['UPSTREAM_UNAVAILABLE']);
    process.kill(redis.pid, 'SIGCONT');
    await expect
      .poll(async () => (await magicEdit(two, noteId, key)).result?.type, { timeout: 10_000 })
      .toBe('ProgressNoteChange');
    expect(countOf(one, 'magicEdit')).toBe(1);
  });

  it.each([
    ['first result', { body: { nth: 1 } }, { raw: { nth: 1 } }, 1],
    ['key again', { status: 400, body: envelope(400, 'no') }, { type: 'ProgressNoteChange' }, 2],
  ])(
    'has its %s on the other instance although Redis restarted during the edit',
    async (name, answer, result, calls) => {
      const noteId = one.sandbox.ids.note(1, 0);
      const key = { idempotencyKey: name };
      const held = Promise.withResolvers<void>();
      const heldUntil = held.promise;
      one.sandbox.answerNext(changes.magicEdit.route, { heldUntil, times: 1, ...answer });
      const edit = magicEdit(one, noteId, key);
      await expect.poll(() => countOf(one, 'magicEdit')).toBe(1);
      await redis.kill();
      held.resolve();
      expect((await edit).result).not.toBeNull();
      await redis.start();
      await expect
        .poll(async () => (await magicEdit(two, noteId, key)).result, { timeout: 10_000 })
        .toMatchObject(result);
      expect(countOf(one, 'magicEdit')).toBe(calls);
    },
  );
});

/** Backdates the running claim by a minute. */
function makeClaimsOlder(redis: RedisServer): void {
  for (const name of redis.cli('KEYS', '*once:*').split('\n')) {
    const claim = JSON.parse(redis.cli('GET', name)) as { state: string; since: number };
    if (claim.state !== 'running') continue;
    redis.cli('SET', name, JSON.stringify({ ...claim, since: claim.since - 60_000 }), 'KEEPTTL');
  }
}
