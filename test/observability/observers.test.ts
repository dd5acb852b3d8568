import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';

import { listen } from '../support/access/listener.ts';
import { type Gateway, openGateway } from '../support/gateway.ts';

type Line = Readonly<Record<string, unknown>>;
const lines: Line[] = [];
let gateway: Gateway;
beforeAll(async () => {
  gateway = await openGateway({ onLog: (line) => lines.push(JSON.parse(line) as Line) });
});
afterAll(() => gateway.close());
beforeEach(() => {
  lines.length = 0;
});

it('logs each operation with its name, its cost and its outcome', async () => {
  const document = 'query Names { organizations { nodes { name } } }';
  // The third answer comes from the answer cache.
  for (const _ of [1, 2, 3]) await gateway.query(document);
  await gateway.query('{ session(id: "7b0e4c52-1f4d-4a39-9d3c-0a5f6b1c2d3e") { fileUrl } }');
  await gateway.query(`query ${'x'.repeat(64)} { __typename }`);
  await gateway.query(`query ${'x'.repeat(65)} { __typename }`);
  const line = {
    level: 'info',
    time: expect.stringMatching(/^\d{4}-.*Z$/),
    msg: 'operation',
    id: expect.any(String),
    requestId: expect.any(String),
    kind: 'query',
    durationMs: expect.toSatisfy(Number.isInteger),
    calls: 0,
    cached: 0,
    outcome: 'ok',
  };
  expect(lines.filter(({ msg }) => msg === 'operation')).toEqual([
    { ...line, name: 'Names', calls: 1 },
    { ...line, name: 'Names', cached: 1 },
    { ...line, name: 'Names', cached: 1 },
    { ...line, name: 'anonymous', outcome: 'NOT_FOUND' },
    { ...line, name: 'x'.repeat(64) },
    { ...line, name: '[withheld]' },
  ]);
});

it('counts operations, calls, webhooks and events', async () => {
  await using own = await openGateway();
  const { sandbox } = own;
  const document = 'query Names { organizations { nodes { name } } }';
  sandbox.answerNext('GET /organizations', { status: 503 });
  await Promise.all([own.query(document), own.query(document)]);
  await own.query(document);
  const listener = await listen(own, ['partner'], 'subscription { events { cursor } }');
  sandbox.finalize(sandbox.ids.note(0, 0));
  await sandbox.delivered();
  const [finalized] = sandbox.events;
  sandbox.emit(finalized!);
  sandbox.emit({ ...finalized!, eventType: 'a_new_type' });
  await sandbox.delivered();
  await fetch(`${own.url}/webhooks`, { method: 'POST', body: '{}' });
  await listener.next();
  listener.close();
  const metrics = await (await fetch(`${own.url}/metrics`)).text();
  expect(metrics.split('\n')).toEqual(
    expect.arrayContaining([
      'gateway_operation_seconds_count{name="Names",outcome="ok"} 3',
      'partner_call_seconds_count{method="GET",route="/organizations",status="503"} 1',
      'partner_call_seconds_count{method="GET",route="/organizations",status="200"} 1',
      'partner_retries_total 1',
      'partner_coalesced_total 1',
      'partner_cache_hits_total 1',
      'events_accepted_total 1',
      'events_copies_total 1',
      'events_quarantined_total 1',
      'events_delivered_total 1',
      'webhooks_refused_total{reason="signature"} 1',
    ]),
  );
});
