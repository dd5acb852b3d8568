import { propagation, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

import { type Gateway, openGateway } from '../support/gateway.ts';

const spans = new InMemorySpanExporter();
let gateway: Gateway;
beforeAll(async () => {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  trace.setGlobalTracerProvider(provider);
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  gateway = await openGateway();
});
afterEach(() => spans.reset());
afterAll(async () => {
  await gateway.close();
  trace.disable();
  propagation.disable();
});

it('traces an operation and its calls, and propagates the trace', async () => {
  await gateway.query('query Lists { organizations(first: 1) { totalCount nodes { name } } }');
  const named = (name: string) => spans.getFinishedSpans().find((span) => span.name === name);
  const operation = named('query Lists')!;
  const call = named('GET /organizations')!;
  expect(call.parentSpanContext?.spanId).toBe(operation.spanContext().spanId);
  expect(operation.attributes).toMatchObject({ outcome: 'ok', 'upstream.calls': 1 });
  const [request] = gateway.sandbox.requests.filter(({ path }) => path.includes('/organizations'));
  expect(request?.headers['traceparent']).toContain(operation.spanContext().traceId);
});

it('contains route templates and never a value', async () => {
  const id = gateway.sandbox.ids.clinic(0);
  await gateway.query(
    `{ clinic(id: "${id}") { clients(filter: { name: "Canary" }) { totalCount } } }`,
  );
  const written = JSON.stringify(
    spans.getFinishedSpans().map(({ name, attributes }) => ({ name, attributes })),
  );
  expect(written).toContain('GET /clinics/:clinicId/clients');
  expect(written).not.toContain(id);
  expect(written).not.toContain('Canary');
});
