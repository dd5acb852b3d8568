import { expect, it } from 'vitest';

import { createRecentLists } from '../../../src/resolvers/access/recent-lists.ts';
import { id } from '../../support/rest/partner.ts';

it('a page proves nothing against a later call for it that was answered earlier', () => {
  const lists = createRecentLists(() => 1_000);
  const list = { name: 'clientsOfClinic', id: id(1) } as const;
  const pageAt = (askedAt: number, ...rows: readonly string[]) =>
    lists.record(list, { rows: rows.map((row) => ({ id: row })), total: 1, page: 1, askedAt });
  pageAt(600, 'left');
  expect(lists.proves(list, 'left')).toBe(true);
  pageAt(800, 'stays');
  pageAt(700, 'left');
  expect(lists.proves(list, 'left')).toBe(false);
  expect(lists.proves(list, 'stays')).toBe(true);
});
