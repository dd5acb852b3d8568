import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Without these conditions graphql loads twice, and every deliberate error looks unexpected.
  ssr: { resolve: { conditions: ['module-sync', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
