import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { traceOperation } from '../../src/observability/tracing.ts';

const spans = new InMemorySpanExporter();
beforeAll(() => {
  const spanProcessors = [new SimpleSpanProcessor(spans)];
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
});
afterAll(() => trace.disable());

it('cuts the name of an operation to 64 characters', () => {
  traceOperation('query', 'x'.repeat(65)).end('ok', 0);
  expect(spans.getFinishedSpans()[0]?.name).toBe(`query ${'x'.repeat(64)}`);
});
