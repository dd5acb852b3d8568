import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { median } from '../figures.ts';

/** The median of two hundred, of a kilobyte each, where Redis and the embedded log are measured. */
export function measureFlushUs(): number {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-capacity-'));
  const file = openSync(join(dir, 'flushed'), 'a');
  try {
    const times = Array.from({ length: 200 }, () => {
      const startedAt = performance.now();
      writeSync(file, Buffer.alloc(1_024, 'x'));
      fdatasyncSync(file);
      return (performance.now() - startedAt) * 1_000;
    });
    return median(times);
  } finally {
    closeSync(file);
    rmSync(dir, { recursive: true, force: true });
  }
}
