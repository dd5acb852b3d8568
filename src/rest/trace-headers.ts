import type { Usage } from './usage.ts';

/** By name, so that nothing a viewer sent can ever go upstream. */
const TRACE_HEADERS = ['traceparent', 'tracestate'];

/** A value that no header can hold would fail the call. */
const VISIBLE = /^[\x20-\x7e]+$/;

const none: readonly string[] = [];

export function traceHeadersOf({ traceHeaders }: Usage): readonly string[] {
  if (!traceHeaders) return none;
  return TRACE_HEADERS.flatMap((name) => {
    const value = traceHeaders[name];
    return value !== undefined && VISIBLE.test(value) ? [name, value] : [];
  });
}
