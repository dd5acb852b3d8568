import { expect, it } from 'vitest';

import type { EventFacts } from '../../../src/events/partner-event.ts';
import { createRecentLists } from '../../../src/resolvers/access/recent-lists.ts';
import { cachePathOf } from '../../../src/rest/lists.ts';
import type { Uuid } from '../../../src/uuid.ts';
import { id } from '../../support/rest/partner.ts';

const eventOf = (clientId: Uuid): EventFacts => ({
  type: 'transcript_ready',
  occurredAt: '',
  sessionExternalId: null,
  sessionId: id(3),
  clientId,
  clinicianId: id(4),
  clinicId: id(5),
  organizationId: id(6),
});

it('a page proves nothing against a later call for it that was answered earlier', () => {
  const lists = createRecentLists(() => 1_000);
  const list = { name: 'clientsOfClinic', id: id(1) } as const;
  const pageAt = (requestedAt: number, ...rows: readonly string[]) =>
    lists.record(list, { rows: rows.map((row) => ({ id: row })), total: 1, page: 1, requestedAt });
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
  const pageAt = (requestedAt: number) =>
    lists.record(list, { rows: [{ id: clientId }], total: 1, page: 1, requestedAt });
  pageAt(800);
  pageAt(700);
  expect(lists.proves(list, clientId)).toBe(true);
  now = 1_200;
  lists.recordEvent(eventOf(clientId));
  expect(lists.proves(list, clientId)).toBe(false);
  expect(lists.contradictedAt(list, clientId)).toBe(1_200);
});

it('a list that was read through proves an absence only without a filter, and if all its rows are known', () => {
  const lists = createRecentLists(() => 1_000);
  const list = { name: 'clientsOfClinic', id: id(1) } as const;
  const record = (page: number, ...rows: readonly string[]) =>
    lists.record(list, {
      rows: rows.map((row) => ({ id: row })),
      total: 2,
      page,
      requestedAt: 600,
    });
  record(2, 'last');
  lists.recordFullScan(list, 2, 600);
  expect(lists.isAbsent(list, 'absent', 2)).toBe(false);
  record(1, 'first');
  expect(lists.isAbsent(list, 'absent', 2)).toBe(true);
  lists.recordChange(cachePathOf(list));
  lists.recordFullScan({ ...list, filter: { status: 'active' } }, 2, 600);
  expect(lists.isAbsent(list, 'absent', 2)).toBe(false);
});

it('a list that was read through proves no absence of a client whose event came later', () => {
  let now = 500;
  const lists = createRecentLists(() => now);
  const list = { name: 'clientsOfClinic', id: id(1) } as const;
  const clientId = id(2);
  const receive = () => lists.recordEvent(eventOf(clientId));
  receive();
  lists.record(list, { rows: [], total: 0, page: 1, requestedAt: 600 });
  lists.recordFullScan(list, 0, 600);
  expect(lists.isAbsent(list, clientId, 0)).toBe(true);
  now = 600;
  receive();
  expect(lists.isAbsent(list, clientId, 0)).toBe(false);
});

it('at most 200,000 rows are known, those of pages that came later included', () => {
  const lists = createRecentLists(() => 1_000);
  const listOf = (n: number) => ({ name: 'clientsOfClinic', id: id(n) }) as const;
  const rowsFrom = (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: `${first + at}` }));
  for (const list of [listOf(1), listOf(2)]) {
    lists.record(list, { rows: rowsFrom(0, 1), total: 101_000, page: 1 });
    lists.record(list, { rows: rowsFrom(1, 100_999), total: 101_000, page: 2 });
  }
  expect(lists.proves(listOf(1), '0')).toBe(false);
  expect(lists.proves(listOf(2), '0')).toBe(true);
});
