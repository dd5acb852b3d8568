import { spawnSync } from 'node:child_process';

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts';
import { openGateway } from '../support/gateway.ts';

let metrics: Metrics;
beforeEach(() => {
  metrics = createMetrics();
});

async function line(start: string): Promise<string | undefined> {
  const lines = (await metrics.text()).split('\n');
  return lines.find((text) => text.startsWith(start));
}

describe('operations', () => {
  it('are counted and timed by name and outcome', async () => {
    metrics.operation('Clients', 'ok', 30);
    metrics.operation('Clients', 'ok', 50);
    const labels = '{name="Clients",outcome="ok"}';
    expect(await line(`gateway_operation_seconds_count${labels}`)).toMatch(/ 2$/);
    expect(await line(`gateway_operation_seconds_sum${labels}`)).toMatch(/ 0\.08$/);
  });

  it('are counted as "other" past 200 names', async () => {
    for (let i = 0; i < 210; i += 1) metrics.operation(`Operation${i}`, 'ok', 1);
    metrics.operation('Operation0', 'ok', 1);
    expect(await line('gateway_operation_seconds_count{name="other"')).toMatch(/ 10$/);
    expect(await line('gateway_operation_seconds_count{name="Operation0"')).toMatch(/ 2$/);
    expect(await line('gateway_operation_seconds_count{name="Operation200"')).toBeUndefined();
  });

  it('are counted under new names once old ones have not been used for an hour', async () => {
    let now = 1;
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => now);
    for (let i = 0; i < 200; i += 1) metrics.operation(`Flood${i}`, 'ok', 1);
    now += 1_800_000;
    metrics.operation('Flood0', 'ok', 1);
    metrics.operation('Clients', 'ok', 1);
    expect(await line('gateway_operation_seconds_count{name="Clients"')).toBeUndefined();
    now += 1_800_001;
    metrics.operation('Clients', 'ok', 1);
    expect(await line('gateway_operation_seconds_count{name="Clients"')).toMatch(/ 1$/);
    expect(await line('gateway_operation_seconds_count{name="Flood0"')).toMatch(/ 2$/);
    expect(await line('gateway_operation_seconds_count{name="Flood1"')).toBeUndefined();
  });

  it('go on counting under a name that is used less than once an hour', async () => {
    let now = 1;
    using _ = vi.spyOn(performance, 'now').mockImplementation(() => now);
    metrics.operation('Nightly', 'ok', 1);
    now += 3_600_001;
    metrics.operation('Nightly', 'ok', 1);
    expect(await line('gateway_operation_seconds_count{name="Nightly"')).toMatch(/ 2$/);
  });
});

describe('upstream calls', () => {
  it('are never counted under a route with an id in it', async () => {
    const id = '7b0e4c52-1f4d-4a39-9d3c-0a5f6b1c2d3e';
    metrics.upstreamCall('GET', `/clients/${id}/sessions`, 200, 20);
    expect(await metrics.text()).not.toContain(id);
  });
});

describe('names of metrics', () => {
  it('end in _total for counters only, and have base units', async () => {
    metrics.watch(() => ({ lost: 3, dropped: 4 }));
    expect(await line('gateway_audit_lines_lost_total ')).toBe('gateway_audit_lines_lost_total 3');
    expect(await line('gateway_audit_lines_lost_total ')).toBe('gateway_audit_lines_lost_total 3');
    const types = [...(await metrics.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    expect(types.length).toBeGreaterThan(30);
    for (const [, name = '', type] of types) {
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(name).not.toMatch(/(millis|_ms|_count|_sum|_bucket|_info_total)$/);
    }
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0;
  it.runIf(promtool)('pass promtool for a gateway in use', async () => {
    await using gateway = await openGateway({ env: { PARTNER_DAILY_QUOTA: '1000' } });
    await gateway.query('query Names { organizations { nodes { name } } }');
    await fetch(`${gateway.url}/webhooks`, { method: 'POST', body: '{}' });
    const input = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(input).toContain('partner_quota_remaining 9');
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input });
    expect([status, String(stdout), String(stderr)]).toEqual([0, '', '']);
  });
});

describe('gauges', () => {
  it('are left out while their value is unknown', async () => {
    let remaining: number | undefined = 3;
    metrics.watch(() => ({ quotaRemaining: remaining }));
    expect(await line('partner_quota_remaining ')).toBe('partner_quota_remaining 3');
    remaining = undefined;
    expect(await line('partner_quota_remaining ')).toBeUndefined();
  });
});

it('includes the delay of the event loop and the memory in use', async () => {
  const text = await metrics.text();
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(text).toContain('process_resident_memory_bytes');
  expect(metrics.contentType).toContain('text/plain');
});

it('counts separately for each instance in the process', async () => {
  createMetrics().cacheHit();
  expect(await line('partner_cache_hits_total ')).toBe('partner_cache_hits_total 0');
});
