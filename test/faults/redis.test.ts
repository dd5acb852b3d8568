import { describe, expect, it } from 'vitest';

import { NO_LOSSES, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { post, tokenFor } from '../support/gateway.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const LISTS = '{ organizations { nodes { name clinics { totalCount } } } }';

describe.skipIf(!redisAvailable).concurrent('with Redis', { timeout: 120_000 }, () => {
  it('answers 503 to webhooks while Redis hangs, still answers queries, and stores each event once', async () => {
    await using redis = await startRedis();
    await using deployment = await openDeployment({ env: { REDIS_URL: redis.url } });
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
});
