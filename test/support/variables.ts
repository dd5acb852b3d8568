import { readFileSync } from 'node:fs';

/** The environment variables that the configuration reads. */
export function namesOfVariables(): readonly string[] {
  const source = readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8');
  return [...source.matchAll(/\bread\(\s*'([A-Z_]+)'/g)].map(([, name]) => name!);
}
