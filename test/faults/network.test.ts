import { describe, expect, it } from 'vitest';

import { createNames, namesAvailable } from '../support/faults/names.ts';
import { runToEnd } from '../support/faults/process/process.ts';
import { type Relay, openRelay } from '../support/faults/relay.ts';
import { NOTHING_AMISS, type Scene, openScene } from '../support/faults/scene.ts';
import { sendOne } from '../support/faults/sender.ts';
import { createStorm } from '../support/faults/soak/weather.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const SESSIONS = 'query($id: ID!) { client(id: $id) { sessions(first: 5) { totalCount } } }';

const portOf = (url: string) => Number(new URL(url).port);

/** Not yet asked for, so that no cache has it. */
async function outcomeOf({ server, sandbox }: Scene, client: number): Promise<string> {
  const { errors } = await server.query(SESSIONS, { id: sandbox.ids.client(client) });
  return errors?.[0]?.extensions.code ?? 'answered';
}

/** Reads and writes have a connection to Redis each, and each comes back by itself. */
async function isWell(scene: Scene): Promise<void> {
  const { server } = scene;
  await until(async () => (await server.ready()).status === 200);
  await until(async () => (await outcomeOf(scene, 40)) === 'answered');
  await until(
    async () => !(await server.query('{ events(first: 1) { nodes { cursor } } }')).errors,
  );
}

/** Its port must be known before the sandbox is there. */
const partnerBehind = ({ port }: Relay, host = '127.0.0.1') => ({
  PARTNER_BASE_URL: `http://${host}:${port}/v2`,
});

describe.skipIf(!redisAvailable).concurrent('a network', { timeout: 120_000 }, () => {
  it('that loses packets makes everything slow, and loses no event', async () => {
    const storms = [11, 12, 13].map(createStorm);
    await using redis = await startRedis();
    await using toRedis = await openRelay(redis.port, storms[0]!.weather);
    await using toPartner = await openRelay(1, storms[1]!.weather);
    const env = { REDIS_URL: `redis://127.0.0.1:${toRedis.port}`, ...partnerBehind(toPartner) };
    await using scene = await openScene({ env });
    const { server, sandbox } = scene;
    toPartner.leadTo(portOf(sandbox.connection.baseUrl));
    await using toServer = await openRelay(portOf(server.url), storms[2]!.weather);
    const { sender, follower, settle } = await scene.load(
      () => `http://127.0.0.1:${toServer.port}`,
    );

    for (const storm of storms) storm.begin();
    const asking = Promise.all(Array.from({ length: 8 }, (_, n) => outcomeOf(scene, n)));
    await sender.more(20);
    for (const line of [toRedis, toPartner, toServer]) line.cut();
    await sender.more(20);
    const tolerable = ['answered', 'UPSTREAM_UNAVAILABLE', 'TIMEOUT'];
    for (const outcome of await asking) expect(tolerable).toContain(outcome);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    for (const storm of storms) storm.end();

    await sender.more(40);
    await isWell(scene);
    // Whoever wanted to resume while Redis could not be asked has heard so, and tried again.
    const { codes, ...counts } = NOTHING_AMISS;
    expect(await settle()).toMatchObject(counts);
    expect(follower.codes.filter((code) => code !== 'UPSTREAM_UNAVAILABLE')).toEqual(codes);
    expect(follower.connections).toBeGreaterThan(1);
  });

  it.skipIf(!namesAvailable)(
    'without names: as if Redis were down, and it is found when the names are back',
    async () => {
      using names = createNames();
      names.list('redis.example');
      await using redis = await startRedis();
      await using toRedis = await openRelay(redis.port);
      const env = { REDIS_URL: `redis://redis.example:${toRedis.port}` };
      await using scene = await openScene({ env, under: names.under });
      const { server, sandbox } = scene;
      const { sender, settle } = await scene.load();

      names.list();
      toRedis.cut();
      await until(async () => (await sendOne(server.url, sandbox)) === 503);
      await until(async () => /ENOTFOUND|EAI_AGAIN/.test((await server.ready()).text));
      expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

      names.list('redis.example');
      await sender.more(40);
      await isWell(scene);
      expect(await settle()).toEqual(NOTHING_AMISS);
    },
  );
});

describe.skipIf(!namesAvailable).concurrent('a start without names', { timeout: 120_000 }, () => {
  it('is refused where Redis can’t be found, and says so', async () => {
    using names = createNames();
    const env = { REDIS_URL: 'redis://:hunter2@redis.example' };
    const { code, stderr } = await runToEnd({ env, under: names.under });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Redis, as .* cannot be reached: (ENOTFOUND|EAI_AGAIN)\n$/);
  });

  it('is alive and not ready where the Partner API can’t be found, and takes webhooks', async () => {
    using names = createNames();
    const env = { PARTNER_BASE_URL: 'https://partner.example/v2' };
    await using scene = await openScene({ env, under: names.under });
    const { server, sandbox } = scene;
    expect(await outcomeOf(scene, 1)).toBe('UPSTREAM_UNAVAILABLE');
    expect(await server.ready()).toMatchObject({ status: 503 });
    expect(await sendOne(server.url, sandbox)).toBe(200);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});
