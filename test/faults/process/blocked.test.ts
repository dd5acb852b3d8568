import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Deployment, NO_LOSSES, openDeployment } from '../../support/faults/deployment.ts';
import { gauge, until } from '../../support/ws/raw-socket.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('a server whose event loop is blocked', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({ preload: ['test/support/faults/process/block-loop.ts'] });
  });
  afterAll(() => deployment[Symbol.asyncDispose]());

  it('for two seconds loses no webhook and no socket, and reports the delay', async () => {
    const { sender, follower, settle } = await deployment.load();
    const lag = () => gauge(deployment.server, 'nodejs_eventloop_lag_max_seconds');
    deployment.server.signal('SIGUSR2');
    await sender.more(40);
    await until(async () => (await lag()) > 1.9, 100);
    expect([follower.connections, sender.refusals]).toEqual([1, 0]);
    expect(await settle()).toEqual(NO_LOSSES);
  });

  it('for good fails its liveness probe, and loses nothing when it is killed', async () => {
    const { server } = deployment;
    const { sender, settle } = await deployment.load();
    const isAlive = () =>
      fetch(`${server.url}/healthz`, { signal: AbortSignal.timeout(500) })
        .then(({ ok }) => ok)
        .catch(() => false);
    await until(isAlive);
    server.signal('SIGUSR1');
    let failures = 0;
    await until(async () => {
      failures = (await isAlive()) ? 0 : failures + 1;
      return failures === 3;
    });
    await server.kill();
    await deployment.start();
    await sender.more(50);
    expect(await settle()).toEqual(NO_LOSSES);
  });
});

/** In seconds. */
const [TOLERATED, KILLED_WITHIN] = [10, 60];

describe('the liveness probe of a blocked process', () => {
  const seconds = (text: string, name: RegExp) => Number(name.exec(text)?.[1]);

  it('fails after more than ten seconds and less than a minute in Kubernetes', () => {
    const [, probe = ''] = /livenessProbe:([\s\S]*?)readinessProbe:/.exec(
      read('deploy/kubernetes.yaml'),
    )!;
    expect(probe).toContain('path: /healthz');
    const period = seconds(probe, /periodSeconds: (\d+)/);
    const failures = seconds(probe, /failureThreshold: (\d+)/);
    expect(period * (failures - 1)).toBeGreaterThan(TOLERATED);
    expect(period * failures + seconds(probe, /timeoutSeconds: (\d+)/)).toBeLessThan(KILLED_WITHIN);
  });

  it('fails after more than ten seconds and less than a minute in Docker', () => {
    const probe = /HEALTHCHECK.*/.exec(read('Dockerfile'))?.[0] ?? '';
    expect(probe).toContain('/healthz');
    const [period, failures] = [/--interval=(\d+)s/, /--retries=(\d+)/].map((name) =>
      seconds(probe, name),
    ) as [number, number];
    expect(period * (failures - 1)).toBeGreaterThan(TOLERATED);
    expect(period * failures + seconds(probe, /--timeout=(\d+)s/)).toBeLessThan(KILLED_WITHIN);
  });
});
