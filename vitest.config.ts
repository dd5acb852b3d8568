import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * By size or earlier duration, as usual, but every third file is one that starts processes, or runs other files again:
 * these take longest for their size, and slow each other down.
 */
class InterleaveLongFiles extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/test\/(faults\/|gateway\/through-yoga)/.test(moduleId);
    const long = sorted.filter(isLong);
    const others = sorted.filter((file) => !isLong(file));
    const mixed = long.flatMap((file, i) => [file, ...others.slice(2 * i, 2 * i + 2)]);
    return [...mixed, ...others.slice(2 * long.length)];
  }
}

export default defineConfig({
  // Without these conditions graphql loads twice, and every deliberate error looks unexpected.
  ssr: { resolve: { conditions: ['module-sync', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/memory-dir.ts'],
    // For machines that are busy with other work. A condition that never holds fails after 50 s: see until().
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine may take longer than the second that is the default.
    expect: { poll: { interval: 10, timeout: 20_000 } },
    // As `npm start` has it: the embedded store's thread, and processes, then start without compiling their sources.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)),
    },
    // Files leave nothing behind in the process, so they may share one: the sources are then read once and not 160 times.
    isolate: false,
    sequence: { sequencer: InterleaveLongFiles },
    // Tests wait for processes, sockets and time-outs too: on two cores six files at once keep both busy.
    maxWorkers: Math.max(6, availableParallelism()),
  },
});
