import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { type Gateway, openGateway } from './gateway.ts';

let gateway: Gateway;
let exported: ReadonlySet<string>;
beforeAll(async () => {
  gateway = await openGateway({ env: { PARTNER_DAILY_QUOTA: '1000' } });
  await gateway.query('{ organizations { totalCount } }');
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram'
      ? [String(name), `${name}_bucket`, `${name}_count`, `${name}_sum`]
      : [String(name)],
  );
  exported = new Set(names);
});
afterAll(() => gateway.close());

const METRIC = /\b(?:gateway|partner|events|webhooks|nodejs|process)_[a-z0-9_]+\b/g;

it.each(['deploy/grafana-dashboard.json', 'deploy/alerts.yaml'])(
  'finds every metric of %s among those that are exported',
  (path) => {
    const text = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
    const used = new Set(text.match(METRIC));
    expect(used.size).toBeGreaterThan(5);
    expect([...used].filter((name) => !exported.has(name))).toEqual([]);
  },
);

it('gives metrics to loopback only, unless a token is set', async () => {
  await using closed = await openGateway({ env: { METRICS_TOKEN: 'a-token-for-the-scraper' } });
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${closed.url}/metrics`, { headers })).status;
  expect(await status({})).toBe(401);
  expect(await status({ authorization: 'Bearer a-token-for-the-scraper' })).toBe(200);
});
