import { expect, it } from 'vitest';

import { StoreUnavailable } from '../../src/errors.ts';
import { createBatches } from '../../src/store/batches.ts';
import { range } from '../support/store/engines.ts';

it('rejects a call while fifty thousand others wait', async () => {
  const batches = createBatches((calls: readonly number[]) => Promise.resolve(calls), 50_000);
  const outcomes = await Promise.allSettled(range(1, 50_001).map(batches.call));
  const rejected = outcomes.filter(({ status }) => status === 'rejected');
  expect(rejected).toEqual([{ status: 'rejected', reason: expect.any(StoreUnavailable) }]);
  expect(await batches.call(1)).toBe(1);
});
