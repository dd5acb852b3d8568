import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { postWebhook } from '../../sandbox/webhooks/delivery.ts';
import { type Deployment, NO_LOSSES, openDeployment } from '../support/faults/deployment.ts';
import { follow } from '../support/faults/follower.ts';
import { cursorNow, lossesIn, logged } from '../support/faults/losses.ts';
import { type ServerProcess, startServer } from '../support/faults/process/process.ts';
import { noteEvent, sendOne, signed, startSender } from '../support/faults/sender.ts';
import { post, tokenFor } from '../support/gateway.ts';
import { type RedisServer, redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

/** For more: `FOLLOWERS=1000 npx vitest run test/faults/redis.test.ts`. */
const FOLLOWERS = Number(process.env['FOLLOWERS'] ?? 10);
const LISTS = '{ organizations { nodes { name clinics { totalCount } } } }';

// One after the other: 400 requests at once keep a busy process from seeing that an idle connection was closed.
describe.skipIf(!redisAvailable)('with Redis', { timeout: 120_000 + FOLLOWERS * 300 }, () => {
  let redis: RedisServer;
  let deployment: Deployment;
  /** A second instance. */
  let other: ServerProcess;
  let startOther: () => Promise<ServerProcess>;
  beforeAll(async () => {
    redis = await startRedis();
    const env = { REDIS_URL: redis.url, LIMIT_SOCKETS_PER_VIEWER: '10000' };
    deployment = await openDeployment({ env });
    startOther = () => startServer({ sandbox: deployment.sandbox, env });
    other = await startOther();
  });
  afterAll(async () => {
    for (const each of [other, deployment, redis]) await each[Symbol.asyncDispose]();
  });

  it('answers 503 to webhooks while Redis hangs, still answers queries, and stores each event once', async () => {
    const { server, sandbox } = deployment;
    const { sender, settle, follower } = await deployment.load();
    process.kill(redis.pid, 'SIGSTOP');
    await until(async () => (await sendOne(server.url, sandbox)) === 503);
    expect((await server.query(LISTS)).errors).toBeUndefined();
    expect((await server.ready()).status).toBe(503);
    // Access is proven by lists, not by the store.
    const authorization = `Bearer ${await tokenFor([`clinic:${sandbox.ids.clinic(0)}`])}`;
    const { client, session } = sandbox.ids;
    const query = `{ session(id: "${session(9, 0)}", clientId: "${client(9)}") { sessionId } }`;
    const { data, errors } = await post(server.url, { query }, { authorization });
    expect([data.session?.sessionId, errors]).toEqual([session(9, 0), undefined]);
    process.kill(redis.pid, 'SIGCONT');
    await sender.more(20);
    await until(async () => (await server.ready()).status === 200);
    expect(await settle()).toEqual(NO_LOSSES);
    // The subscriber's socket stayed open.
    expect(follower.connections).toBe(1);
  });

  it('delivers every event once to every subscriber while instances are replaced one by one', async () => {
    const { sandbox } = deployment;
    // In turn, whether the instance is up or not.
    let turn = 0;
    const url = () => [deployment.server, other][(turn += 1) % 2]!.url;
    const after = await cursorNow(deployment.server.query);
    const token = await tokenFor(['partner']);
    const followers = Array.from({ length: FOLLOWERS }, () => follow({ url, after, token }));
    const sender = startSender({ url, sandbox });
    const stop = async (server: ServerProcess) => {
      await sender.more(40);
      server.signal('SIGTERM');
      expect((await server.exited).code).toBe(0);
    };

    await stop(deployment.server);
    await deployment.start();
    await stop(other);
    other = await startOther();
    await sender.more(40);
    await sender.stop();

    const { acknowledged } = sender;
    await Promise.all(followers.map(async (follower) => follower.receives(acknowledged)));
    for (const { close, received, closeCodes, codes } of followers) {
      close();
      expect(lossesIn(acknowledged, received)).toEqual(NO_LOSSES.received);
      expect(codes).toEqual([]);
      expect(closeCodes).not.toContain(1011);
    }
    const stored = await logged(deployment.server.query, after);
    expect(lossesIn(acknowledged, stored)).toEqual(NO_LOSSES.logged);
  });

  it('stores and delivers an event once that two instances got while one of them was killed', async () => {
    const { server, sandbox } = deployment;
    const { sender, settle, follower } = await deployment.load();
    await sender.stop();
    let isKilled = false;
    const deliver = async (note: string) => {
      const body = noteEvent(sandbox, note);
      const to = ({ url }: ServerProcess) =>
        postWebhook(new URL(`${url}/webhooks`), body, signed(sandbox, body));
      // A busy instance may answer 503; then it gets the event again, as from any sender.
      const kept = until(() => to(server));
      await until(async () => isKilled || (await to(other)));
      // At its first answer, while it still has the others.
      isKilled = true;
      other.signal('SIGKILL');
      await kept;
    };
    const notes = Array.from({ length: 200 }, () => randomUUID());
    await Promise.all(notes.map(deliver));
    expect((await other.exited).signal).toBe('SIGKILL');
    const acknowledged = new Set([...sender.acknowledged, ...notes]);
    await follower.receives(acknowledged);
    expect(lossesIn(acknowledged, follower.received)).toEqual(NO_LOSSES.received);
    expect(lossesIn(acknowledged, await logged(server.query))).toEqual(NO_LOSSES.logged);
    await settle();
  });
});
