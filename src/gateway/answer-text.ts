import type { Answer } from './pipeline.ts';

/** An answer as it goes over the wire. Errors come first: whoever reads a long answer sees them. */
export function answerText({ data, errors, extensions }: Answer): string {
  const told = errors ? `"errors":${JSON.stringify(errors)},` : '';
  return `{${told}"data":${data},"extensions":${JSON.stringify(extensions)}}`;
}
