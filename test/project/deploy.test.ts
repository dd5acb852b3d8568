import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('deploy/kubernetes.yaml', () => {
  const text = read('deploy/kubernetes.yaml');

  it.each([
    'allowPrivilegeEscalation: false',
    'automountServiceAccountToken: false',
    'capabilities: { drop: [ALL] }',
    'enableServiceLinks: false',
    'readOnlyRootFilesystem: true',
    'runAsNonRoot: true',
    'seccompProfile: { type: RuntimeDefault }',
    'limits: { cpu:',
  ])('has %s', (setting) => {
    expect(text).toContain(setting);
  });

  it.each(['/data', '/tmp'])('mounts a volume at %s, since the root is read-only', (path) => {
    const [, name] = new RegExp(`\\{ name: (\\w+), mountPath: ${path} \\}`).exec(text) ?? [];
    expect(text).toContain(`{ name: ${name}, emptyDir:`);
  });
});

describe('compose.yaml', () => {
  const text = read('compose.yaml');

  it('publishes ports on loopback only', () => {
    const ports = [...text.matchAll(/ports: \[(.*)\]/g)].map(([, list]) => list);
    expect(ports).toHaveLength(2);
    for (const list of ports) expect(list).toMatch(/^'127\.0\.0\.1:\d+:4000'$/);
  });

  it('restarts every service after a crash, or after a restart of the machine', () => {
    const starts = text.split('\n').filter((line) => /^ +(build|image):/.test(line));
    expect(text.match(/^ +restart: unless-stopped$/gm)).toHaveLength(starts.length);
  });

  it('has Redis require a password, which the gateways have', () => {
    expect(text).toContain('redis-server --requirepass ${REDIS_PASSWORD:?} ');
    expect(text).toContain('REDIS_URL: redis://:${REDIS_PASSWORD:?}@redis:6379');
  });
});
