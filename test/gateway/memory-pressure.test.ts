import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

import { oldGenerationBytes } from '../../src/gateway/memory-pressure.ts';

it.each([[], ['--max-semi-space-size=32']])(
  'computes the size of the old generation from the heap limit (%s)',
  (...flags) => {
    const script = 'console.log(v8.getHeapStatistics().heap_size_limit)';
    const limit = execFileSync(process.execPath, [
      '--max-old-space-size=256',
      ...flags,
      '-e',
      script,
    ]);
    expect(oldGenerationBytes(Number(limit), flags)).toBe(256 * 2 ** 20);
  },
);
