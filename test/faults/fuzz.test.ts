import { expect, it } from 'vitest';

import { fuzz, openTarget } from '../support/fuzz/properties.ts';

/** More of it: `node scripts/fuzz.ts`. */
const SCALE = 25;
const SEED = 1;

it(
  'answers random input with its own errors only, and keeps running',
  { timeout: 120_000 },
  async () => {
    const lines: string[] = [];
    await using gateway = await openTarget((line) => lines.push(line));
    expect(await fuzz(gateway, SCALE, SEED)).toBeGreaterThanOrEqual(750);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    expect(lines.filter((line) => line.includes('unexpected error'))).toEqual([]);
  },
);
