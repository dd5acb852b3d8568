import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Connection, loadConnection } from '../../src/connection/connection.ts';
import type { WindowArgs } from '../../src/connection/window.ts';
import {
  ask,
  cursors,
  createUpstream,
  cursorAt,
  notFound,
} from '../support/connection/upstream.ts';

interface Asked {
  readonly size: number;
  readonly hinted: boolean;
  readonly from: 'first' | 'last';
  readonly count: number;
  readonly after?: number | undefined;
  readonly before?: number | undefined;
}

/** Lists of 0 to 130 rows and a window of them: cursors on any row, in either order, or none. */
const windows: fc.Arbitrary<Asked> = fc
  .oneof(fc.constantFrom(0, 9, 10, 11, 100), fc.nat({ max: 130 }))
  .chain((size) => {
    const offset =
      size === 0
        ? fc.constant(undefined)
        : fc.option(fc.nat({ max: size - 1 }), { nil: undefined });
    return fc.record({
      size: fc.constant(size),
      hinted: fc.boolean(),
      from: fc.constantFrom('first' as const, 'last' as const),
      count: fc.integer({ min: 1, max: 100 }),
      after: offset,
      before: offset,
    });
  });

/** The reference: the rows of a plain array. */
function expected({ size, from, count, after, before }: Asked) {
  const low = after === undefined ? 0 : after + 1;
  const between = [...Array(size).keys()].filter((at) => at >= low && at < (before ?? size));
  const offsets = from === 'first' ? between.slice(0, count) : between.slice(-count);
  const touched = new Set(offsets.map((at) => Math.floor(at / 10) + 1));
  return { offsets, touched, start: offsets[0] ?? low, end: (offsets.at(-1) ?? low - 1) + 1 };
}

function opened({ size, hinted, from, count, after, before }: Asked) {
  const upstream = createUpstream(size);
  const args: WindowArgs = {
    [from]: count,
    ...(after !== undefined && { after: cursorAt(upstream, after) }),
    ...(before !== undefined && { before: cursorAt(upstream, before) }),
  };
  return { upstream, args, list: upstream.open(hinted ? { hint: size } : {}) };
}

describe('a connection', () => {
  it('returns exactly the rows of the plain array', async () => {
    await fc.assert(
      fc.asyncProperty(windows, async (asked) => {
        const { args, list, upstream } = opened(asked);
        const { offsets, start, end } = expected(asked);
        const answer = await ask(args, list);
        expect(answer.nodes).toEqual(offsets.map((at) => upstream.rows[at]));
        expect(answer.edges.map((edge) => edge.node)).toEqual(answer.nodes);
        expect(answer.totalCount).toBe(asked.size);
        expect(answer.hasNextPage).toBe(end < asked.size);
        expect(answer.hasPreviousPage).toBe(start > 0);
        const made = answer.edges.map(({ connection, offset }) => connection.cursorAt(offset));
        expect(answer.startCursor).toBe(made[0] ?? null);
        expect(answer.endCursor).toBe(made.at(-1) ?? null);
      }),
    );
  });

  it('reads each page it needs once, and page one in addition only to find the end', async () => {
    await fc.assert(
      fc.asyncProperty(windows, async (asked) => {
        const { args, list } = opened(asked);
        const { touched } = expected(asked);
        await ask(args, list);
        const isLengthKnown =
          asked.hinted || asked.after !== undefined || asked.before !== undefined;
        if (!isLengthKnown) touched.add(1);
        expect(list.asked.length).toBe(Math.max(1, touched.size));
        if (touched.size > 0) expect(new Set(list.asked)).toEqual(touched);
      }),
    );
  });

  it('reads the pages of a known length in parallel', () => {
    const list = createUpstream(100).open({ hint: 100 });
    void loadConnection({ first: 25 }, 'rows', list, cursors);
    expect(list.asked).toEqual([1, 2, 3]);
  });

  it.each(['total', 'offsets'] as const)(
    'that needs its %s alone takes one call, of a page that the rows need too',
    async (need) => {
      await fc.assert(
        fc.asyncProperty(windows, async (asked) => {
          const { args, list } = opened(asked);
          const connection = await loadConnection(args, need, list, cursors);
          expect(connection.totalCount).toBe(asked.size);
          expect(list.asked.length).toBe(1);
          const { touched, start, end } = expected(asked);
          const isPageOne = list.asked[0] === 1;
          expect(touched.size === 0 || isPageOne || touched.has(list.asked[0] ?? 0)).toBe(true);
          if (need === 'total') return;
          expect(connection.hasNextPage).toBe(end < asked.size);
          expect(connection.hasPreviousPage).toBe(start > 0);
        }),
      );
    },
  );

  it('that needs nothing takes no call', async () => {
    const list = createUpstream(100).open();
    await loadConnection({ first: 50 }, 'nothing', list, cursors);
    expect(list.asked).toEqual([]);
  });

  it('does not search for moved rows for its length', async () => {
    const upstream = createUpstream(50);
    const after = cursorAt(upstream, 9);
    upstream.rows = upstream.rows.slice(1);
    const list = upstream.open();
    const { totalCount } = await loadConnection({ first: 10, after }, 'total', list, cursors);
    expect(totalCount).toBe(49);
    expect(list.asked).toEqual([2]);
  });

  it('that needs its cursors alone reads the pages of the first and the last row', async () => {
    const list = createUpstream(100).open({ hint: 100 });
    await loadConnection({ first: 50 }, 'cursors', list, cursors);
    expect(list.asked).toEqual([1, 5]);
  });

  it('is opened without a promise while everything is cached', () => {
    for (const args of [
      { first: 25 },
      { last: 25 },
      { first: 3, after: cursorAt(createUpstream(60), 4) },
    ]) {
      const list = createUpstream(60).open({ atOnce: true });
      expect(loadConnection(args, 'rows', list, cursors)).toBeInstanceOf(Connection);
    }
  });

  it('omits rows without an id but keeps their positions, and continues past a page of them', async () => {
    const upstream = createUpstream(32);
    upstream.rows = upstream.rows.map((row, at) =>
      at === 2 || (at >= 10 && at < 20) ? undefined : row,
    );
    const seen: string[] = [];
    for (let after: string | null = null, more = true; more;) {
      const page = await ask({ first: 5, after }, upstream.open());
      seen.push(...page.nodes.map((row) => row.id));
      [after, more] = [page.endCursor, page.hasNextPage];
      expect(seen.length, 'it does not end').toBeLessThan(40);
    }
    expect(seen).toEqual(upstream.rows.flatMap((row) => row?.id ?? []));
  });

  it('continues after a row without an id while its neighbours have not moved', async () => {
    const upstream = createUpstream(32);
    upstream.rows = upstream.rows.with(4, undefined);
    const { endCursor } = await ask({ first: 5 }, upstream.open());
    const { nodes } = await ask({ first: 5, after: endCursor }, upstream.open());
    expect(nodes).toEqual(upstream.rows.slice(5, 10));
  });

  it('fails as not found when page one is', async () => {
    const list = {
      ...createUpstream(30).open({ hint: 30 }),
      loadPage: () => Promise.reject(notFound()),
    };
    await expect(ask({ last: 5 }, list)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('fails when a page is not found that the length of the list calls for', async () => {
    const paged = createUpstream(30).open({ hint: 30 });
    const asked: number[] = [];
    const list = {
      ...paged,
      loadPage(page: number, since?: number) {
        asked.push(page);
        return page === 2 ? Promise.reject(notFound()) : paged.loadPage(page, since);
      },
    };
    await expect(ask({ first: 25 }, list)).rejects.toMatchObject({ code: 'UPSTREAM_BAD_RESPONSE' });
    expect(asked).toEqual([1, 2, 3, 1, 2]);
    await expect(ask({ first: 10 }, list)).resolves.toMatchObject({ total: 30 });
  });
});
