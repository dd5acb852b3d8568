import { execFileSync } from 'node:child_process';

import { expect, it } from 'vitest';

import { oldGenerationBytes } from '../../src/gateway/memory-pressure.ts';

it.each([[], ['--max-semi-space-size=32']])(
  'knows how much V8 keeps for old objects (%s)',
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
