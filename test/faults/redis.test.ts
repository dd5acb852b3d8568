import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { postWebhook } from '../../sandbox/webhooks/delivery.ts';
import { NO_LOSSES, openDeployment } from '../support/faults/deployment.ts';
import { lossesIn, logged } from '../support/faults/losses.ts';
import { type ServerProcess, startServer } from '../support/faults/process/process.ts';
import { noteEvent, sendOne, signed } from '../support/faults/sender.ts';
import { post, tokenFor } from '../support/gateway.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const LISTS = '{ organizations { nodes { name clinics { totalCount } } } }';

// One after the other: 400 requests at once keep a busy process from seeing that an idle connection was closed.
describe.skipIf(!redisAvailable)('with Redis', { timeout: 120_000 }, () => {
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

  it('stores and delivers an event once that two instances got while one of them was killed', async () => {
    await using redis = await startRedis();
    const env = { REDIS_URL: redis.url };
    await using deployment = await openDeployment({ env });
    const { server, sandbox } = deployment;
    await using other = await startServer({ sandbox, env });
    const { sender, settle, follower } = await deployment.load();
    await sender.stop();
    const deliver = async (note: string) => {
      const body = noteEvent(sandbox, note);
      const to = ({ url }: ServerProcess) =>
        postWebhook(new URL(`${url}/webhooks`), body, signed(sandbox, body));
      // A busy instance may answer 503; then it gets the event again, as from any sender.
      const [kept, killed] = [until(() => to(server)), to(other)];
      // At its first answer, while it still has the others.
      if (await killed) other.signal('SIGKILL');
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
