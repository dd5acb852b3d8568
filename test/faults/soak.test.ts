import { expect, it } from 'vitest';

import { soak } from '../support/faults/soak/soak.ts';

/** For longer: `node scripts/soak.ts`. */
it(
  'loses, repeats and leaks nothing under load with faults of every kind',
  { timeout: 120_000 },
  async () => {
    const report = await soak({ seconds: 3, faultMs: 300, faultEveryMs: 100 });
    expect(report).toMatchObject({ lost: 0, repeated: 0, leaked: 0 });
    for (const count of [report.acknowledged, report.answered, report.edited])
      expect(count).toBeGreaterThan(0);
  },
);
