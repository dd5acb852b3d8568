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

it('an event contradicts the last page, although an earlier call for it was answered later', () => {
  let now = 1_000;
  const lists = createRecentLists(() => now);
  const list = { name: 'clientsOfClinician', id: id(1) } as const;
  const clientId = id(2);
  const pageAt = (askedAt: number) =>
    lists.record(list, { rows: [{ id: clientId }], total: 1, page: 1, askedAt });
  pageAt(800);
  pageAt(700);
  expect(lists.proves(list, clientId)).toBe(true);
  now = 1_200;
  const ids = { sessionId: id(3), clientId, clinicianId: id(4), clinicId: id(5) };
  const event = { type: 'transcript_ready', occurredAt: '', sessionExternalId: null } as const;
  lists.recordEvent({ ...event, ...ids, organizationId: id(6) });
  expect(lists.proves(list, clientId)).toBe(false);
  expect(lists.contradictedAt(list, clientId)).toBe(1_200);
});
