import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../../support/gateway.ts';
import {
  changes,
  countOf,
  envelope,
  magicEdit,
  nothingSent,
} from '../../support/mutation/edits.ts';
import { type RedisServer, redisAvailable, startRedis } from '../../support/redis-server.ts';

describe.skipIf(!redisAvailable)('an idempotency key, over two instances', () => {
  let redis: RedisServer;
  let one: Gateway;
  let two: Gateway;
  /** How many changes have begun: each is audited before it claims its key. */
  let begun = 0;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    const onLog = (line: string) => void (begun += Number(line.includes(': asked for"')));
    one = await openGateway({ env, switches: { newNoteIdEvery: 0 }, onLog });
    two = await openGateway({ env, sandbox: one.sandbox, onLog });
  });
  afterAll(async () => {
    await two.close();
    await one.close();
    await redis[Symbol.asyncDispose]();
  });
  beforeEach(() => one.sandbox.resetCounts());

  it('turns twenty mutations into one call, with twenty equal results', async () => {
    const noteId = one.sandbox.ids.note(0, 0);
    const answer = Promise.withResolvers<void>();
    const held = { heldUntil: answer.promise, body: { nth: 1 } };
    one.sandbox.answerNext(changes.magicEdit.route, held);
    const calls = Array.from({ length: 20 }, (_, n) =>
      magicEdit(n % 2 ? one : two, noteId, { idempotencyKey: 'twenty' }),
    );
    await expect.poll(() => begun).toBe(20);
    answer.resolve();
    const results = (await Promise.all(calls)).map(({ result }) => JSON.stringify(result));
    expect(new Set(results).size).toBe(1);
    expect(JSON.parse(results[0] ?? '')).toMatchObject({ raw: { nth: 1 } });
    expect(countOf(one, 'magicEdit')).toBe(1);
  });

  it('can be used on the other instance after Redis hung, while no edit is sent, with a key or without', async () => {
    const noteId = one.sandbox.ids.note(0, 2);
    const key = { idempotencyKey: 'hung' };
    process.kill(redis.pid, 'SIGSTOP');
    const edits = await Promise.all([magicEdit(one, noteId, key), magicEdit(one, noteId)]);
    process.kill(redis.pid, 'SIGCONT');
    for (const { errors } of edits) expect(errors).toMatchObject(nothingSent);
    expect(countOf(one, 'magicEdit')).toBe(0);
    await expect
      .poll(async () => (await magicEdit(two, noteId, key)).result?.type)
      .toBe('ProgressNoteChange');
    expect(countOf(one, 'magicEdit')).toBe(1);
  });

  it.each([
    ['first result', { body: { nth: 1 } }, 'ProgressNoteChange', { raw: { nth: 1 } }, 1],
    [
      'key again',
      { status: 400, body: envelope(400, 'no') },
      'InvalidInput',
      { type: 'ProgressNoteChange' },
      2,
    ],
  ])(
    'has its %s on the other instance although Redis restarted during the edit',
    async (name, answer, type, result, calls) => {
      const noteId = one.sandbox.ids.note(1, 0);
      const key = { idempotencyKey: name };
      const held = Promise.withResolvers<void>();
      const heldUntil = held.promise;
      one.sandbox.answerNext(changes.magicEdit.route, { heldUntil, times: 1, ...answer });
      const edit = magicEdit(one, noteId, key);
      await expect.poll(() => countOf(one, 'magicEdit')).toBe(1);
      await redis.kill();
      held.resolve();
      expect((await edit).result.type).toBe(type);
      await redis.start();
      await expect
        .poll(async () => (await magicEdit(two, noteId, key)).result)
        .toMatchObject(result);
      expect(countOf(one, 'magicEdit')).toBe(calls);
    },
  );
});
