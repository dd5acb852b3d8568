import { describe, expect, it } from 'vitest';

import { createNames, namesAvailable } from '../support/faults/names.ts';
import { runToEnd } from '../support/faults/process/process.ts';
import { type Relay, createPacketLoss, openRelay } from '../support/faults/relay.ts';
import { NO_LOSSES, type Deployment, openDeployment } from '../support/faults/deployment.ts';
import { sendOne } from '../support/faults/sender.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions(first: 5) { totalCount } } }';

const portOf = (url: string) => Number(new URL(url).port);

/** Reads a list that no cache has yet. */
async function outcomeOf({ server, sandbox }: Deployment, client: number): Promise<string> {
  const { errors } = await server.query(SESSIONS, { id: sandbox.ids.client(client) });
  return errors?.[0]?.extensions.code ?? 'answered';
}

/** Reads and writes have separate connections to Redis, and both must reconnect. */
async function recovers(deployment: Deployment): Promise<void> {
  const { server } = deployment;
  await until(async () => (await server.ready()).status === 200);
  await until(async () => (await outcomeOf(deployment, 40)) === 'answered');
  await until(
    async () => !(await server.query('{ events(first: 1) { nodes { cursor } } }')).errors,
  );
}

/** The sandbox starts later, so the gateway gets the port of the relay. */
const partnerBehind = ({ port }: Relay, host = '127.0.0.1') => ({
  PARTNER_BASE_URL: `http://${host}:${port}/v2`,
});

describe.skipIf(!redisAvailable).concurrent('with a faulty network', { timeout: 120_000 }, () => {
  it('loses no event when packets are lost', async () => {
    const losses = [11, 12, 13].map(createPacketLoss);
    await using redis = await startRedis();
    await using toRedis = await openRelay(redis.port, losses[0]!.transfer);
    await using toPartner = await openRelay(1, losses[1]!.transfer);
    const env = { REDIS_URL: `redis://127.0.0.1:${toRedis.port}`, ...partnerBehind(toPartner) };
    await using deployment = await openDeployment({ env });
    const { server, sandbox } = deployment;
    toPartner.redirectTo(portOf(sandbox.connection.baseUrl));
    await using toServer = await openRelay(portOf(server.url), losses[2]!.transfer);
    const { sender, follower, settle } = await deployment.load(
      () => `http://127.0.0.1:${toServer.port}`,
    );

    for (const loss of losses) loss.begin();
    const asking = Promise.all(Array.from({ length: 8 }, (_, n) => outcomeOf(deployment, n)));
    await sender.more(10);
    for (const line of [toRedis, toPartner, toServer]) line.cut();
    await sender.more(10);
    // A bad response is one that the cut broke off.
    const tolerable = ['answered', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_BAD_RESPONSE', 'TIMEOUT'];
    for (const outcome of await asking) expect(tolerable).toContain(outcome);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    for (const loss of losses) loss.end();

    await sender.more(40);
    await recovers(deployment);
    // A subscriber that tried to resume while Redis was not reachable got an error and tried again.
    const { codes, ...counts } = NO_LOSSES;
    expect(await settle()).toMatchObject(counts);
    expect(follower.codes.filter((code) => code !== 'UPSTREAM_UNAVAILABLE')).toEqual(codes);
    expect(follower.connections).toBeGreaterThan(1);
  });

  it.skipIf(!namesAvailable)(
    'answers 503 while the name of Redis does not resolve, and recovers by itself',
    async () => {
      using names = createNames();
      names.list('redis.example');
      await using redis = await startRedis();
      await using toRedis = await openRelay(redis.port);
      const env = { REDIS_URL: `redis://redis.example:${toRedis.port}` };
      await using deployment = await openDeployment({ env, under: names.under });
      const { server, sandbox } = deployment;
      const { sender, settle } = await deployment.load();

      names.list();
      toRedis.cut();
      await until(async () => (await sendOne(server.url, sandbox)) === 503);
      await until(async () => /ENOTFOUND|EAI_AGAIN/.test((await server.ready()).text));
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

      names.list('redis.example');
      await sender.more(40);
      await recovers(deployment);
      expect(await settle()).toEqual(NO_LOSSES);
    },
  );
});

describe
  .skipIf(!namesAvailable)
  .concurrent('a start without name resolution', { timeout: 120_000 }, () => {
    it('fails with a message when the name of Redis does not resolve', async () => {
      using names = createNames();
      const env = { REDIS_URL: 'redis://:hunter2@redis.example' };
      const { code, stderr } = await runToEnd({ env, under: names.under });
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /^Redis, as REDIS_URL names it, cannot be reached: (ENOTFOUND|EAI_AGAIN)\n$/,
      );
    });

    it('is alive but not ready when the name of the Partner API does not resolve, and accepts webhooks', async () => {
      using names = createNames();
      const env = { PARTNER_BASE_URL: 'https://partner.example/v2' };
      await using deployment = await openDeployment({ env, under: names.under });
      const { server, sandbox } = deployment;
      expect(await outcomeOf(deployment, 1)).toBe('UPSTREAM_UNAVAILABLE');
      expect(await server.ready()).toMatchObject({ status: 503 });
      expect(await sendOne(server.url, sandbox)).toBe(200);
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    });
  });
