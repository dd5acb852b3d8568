import { describe, expect, it } from 'vitest';

import { names } from '../../src/store/redis/names.ts';
import { follow } from '../support/faults/follower.ts';
import { cursorNow } from '../support/faults/losses.ts';
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

  it('sends EVENTS_EXPIRED to subscribers after a flush, and they resume from the new log', async () => {
    await using redis = await startRedis();
    await using deployment = await openDeployment({ env: { REDIS_URL: redis.url } });
    const { server, sandbox, url } = deployment;
    const after = await cursorNow(server.query);
    const follower = follow({ url, after, token: await tokenFor(['partner']) });
    const before = crypto.randomUUID();
    expect(await sendOne(server.url, sandbox, before)).toBe(200);
    await follower.receives(new Set([before]));
    redis.cli('FLUSHALL');
    await until(() => follower.codes.includes('EVENTS_EXPIRED'));
    const next = crypto.randomUUID();
    expect(await sendOne(server.url, sandbox, next)).toBe(200);
    await follower.receives(new Set([before, next]));
    const events = `query($after: EventCursor) { events(after: $after) { nodes { cursor } } }`;
    const { errors } = await server.query(events, { after });
    expect(errors).toMatchObject([{ extensions: { code: 'EVENTS_EXPIRED' } }]);
    follower.close();
  });

  it('acknowledges nothing while the replica of Redis is down', async () => {
    await using primary = await startRedis('--repl-diskless-sync-delay', '0');
    await using replica = await startRedis('--replicaof', `127.0.0.1 ${primary.port}`);
    await until(() => primary.cli('INFO', 'replication').includes('state=online'));
    await using deployment = await openDeployment({ env: { REDIS_URL: primary.url } });
    const { server, sandbox } = deployment;
    const noteId = crypto.randomUUID();
    expect(await sendOne(server.url, sandbox)).toBe(200);
    await replica.kill();
    expect(await sendOne(server.url, sandbox, noteId)).toBe(503);
    expect((await server.ready()).text).toMatch(/replica/);
    await replica.start();
    await until(async () => (await sendOne(server.url, sandbox, noteId)) === 200);
    expect(replica.cli('XLEN', '{partner-graph}:events')).toBe('2');
  });

  it('locks a note although Redis could not store it, and stores it later', async () => {
    await using redis = await startRedis();
    await using deployment = await openDeployment({ env: { REDIS_URL: redis.url } });
    const { server, sandbox } = deployment;
    sandbox.deliverTo(`${server.url}/webhooks`);
    const id = sandbox.ids.note(6, 0);
    redis.cli('ACL', 'SETUSER', 'default', 'resetkeys', '~{partner-graph}:[^f]*');
    sandbox.finalize(id);
    await sandbox.delivered();
    const LOCKED = 'query($id: ID!) { progressNote(id: $id) { isLocked } }';
    await until(async () => (await server.query(LOCKED, { id })).data.progressNote.isLocked);
    redis.cli('ACL', 'SETUSER', 'default', '~*');
    await until(() => redis.cli('EXISTS', names.fact(`locked:${id}`)) === '1');
  });
});
