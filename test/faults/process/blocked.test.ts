import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { NOTHING_AMISS, openScene } from '../../support/faults/scene.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

const preload = ['test/support/faults/process/block-loop.ts'];
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe.concurrent('a server whose event loop is blocked', { timeout: 60_000 }, () => {
  it('for two seconds loses no webhook and no socket, and tells how long it was', async () => {
    await using scene = await openScene({ preload, env: { BLOCK_MS: '2000' } });
    const { sender, follower, settle } = await scene.load();
    const lag = () => gauge(scene.server, 'nodejs_eventloop_lag_max_seconds');
    scene.server.signal('SIGUSR2');
    await sender.more(40);
    await until(async () => (await lag()) > 1.9, 100);
    expect([follower.connections, sender.refusals]).toEqual([1, 0]);
    expect(await settle()).toEqual(NOTHING_AMISS);
  });

  it('for good does not answer its liveness probe, and loses nothing when it is killed for that', async () => {
    await using scene = await openScene({ preload, env: { BLOCK_MS: '600000' } });
    const { server } = scene;
    const { sender, settle } = await scene.load();
    const isAlive = () =>
      fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(500) })
        .then(({ ok }) => ok)
        .catch(() => false);
    await until(isAlive);
    server.signal('SIGUSR2');
    let failures = 0;
    await until(async () => {
      failures = (await isAlive()) ? 0 : failures + 1;
      return failures === 3;
    });
    await server.kill();
    await scene.start();
    await sender.more(50);
    expect(await settle()).toEqual(NOTHING_AMISS);
  });
});

/** The longest block that is borne, and the longest that may last, in seconds. */
const [BORNE, BEARABLE] = [10, 60];

describe('how long a blocked process is left alone', () => {
  const seconds = (text: string, name: RegExp) => Number(name.exec(text)?.[1]);

  it('is less than a minute and more than a moment in Kubernetes', () => {
    const [, probe = ''] = /livenessProbe:([\s\S]*?)readinessProbe:/.exec(
      read('deploy/kubernetes.yaml'),
    )!;
    expect(probe).toContain('path: /healthz');
    const period = seconds(probe, /periodSeconds: (\d+)/);
    const failures = seconds(probe, /failureThreshold: (\d+)/);
    expect(period * (failures - 1)).toBeGreaterThan(BORNE);
    expect(period * failures + seconds(probe, /timeoutSeconds: (\d+)/)).toBeLessThan(BEARABLE);
  });

  it('is the same for Docker', () => {
    const probe = /HEALTHCHECK.*/.exec(read('Dockerfile'))?.[0] ?? '';
    expect(probe).toContain('/healthz');
    const [period, failures] = [/--interval=(\d+)s/, /--retries=(\d+)/].map((name) =>
      seconds(probe, name),
    ) as [number, number];
    expect(period * (failures - 1)).toBeGreaterThan(BORNE);
    expect(period * failures + seconds(probe, /--timeout=(\d+)s/)).toBeLessThan(BEARABLE);
  });
});
