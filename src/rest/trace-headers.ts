import type { Usage } from './usage.ts';

/** By name, so that nothing a viewer sent can ever go upstream. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

const none: readonly string[] = [];

export function traceHeadersOf({ traceHeaders }: Usage): readonly string[] {
  if (!traceHeaders) return none;
  return TRACE_HEADERS.flatMap((name) => {
    const value = traceHeaders[name];
    return value === undefined ? [] : [name, value];
  });
}
