import { describe, expect, it } from 'vitest';

import {
  ask,
  createUpstream,
  cursorAt,
  notFound,
  rowsNamed,
} from '../support/connection/upstream.ts';

const ids = (rows: readonly ({ readonly id: string } | undefined)[]) => rows.map((row) => row?.id);

describe('pages that disagree on the length', () => {
  it('are read again when one came from the cache', async () => {
    const upstream = createUpstream(20);
    const cache = new Map([[1, upstream.pageNow(1)]]);
    upstream.rows = [...rowsNamed(['new']), ...upstream.rows];
    const list = upstream.open({ cache, hint: 20 });
    expect(await ask({ first: 20 }, list)).toMatchObject({ nodes: upstream.rows.slice(0, 20) });
    expect(list.asked).toEqual([2, 1]);
  });

  it('are read again when the list changed between them', async () => {
    const upstream = createUpstream(30);
    const list = upstream.open({
      hint: 30,
      onCall: () => {
        if (list.asked.length === 3) upstream.rows = upstream.rows.slice(1);
      },
    });
    const { nodes, totalCount } = await ask({ first: 30 }, list);
    expect(ids(nodes)).toEqual(ids(upstream.rows));
    expect(totalCount).toBe(29);
    expect(list.asked).toEqual([1, 2, 3, 1, 2]);
  });

  it.each([
    { read: 'was cached', hint: 11, asked: [2, 1] },
    { read: 'was read before', hint: undefined, asked: [1, 2, 1] },
  ])('are read again when the last page is gone since page one $read', async ({ hint, asked }) => {
    const upstream = createUpstream(11);
    const cache = new Map(hint ? [[1, upstream.pageNow(1)]] : []);
    const list = upstream.open({
      cache,
      strict: true,
      ...(hint && { hint }),
      onCall: (page) => {
        if (page === 2) upstream.rows = upstream.rows.slice(0, 10);
      },
    });
    const { nodes, totalCount } = await ask({ first: 20 }, list);
    expect(ids(nodes)).toEqual(ids(upstream.rows));
    expect(totalCount).toBe(10);
    expect(list.asked).toEqual(asked);
  });

  it('are read again once more when they agree, but have the same row', async () => {
    const upstream = createUpstream(18);
    const cache = new Map([[2, upstream.pageNow(2)]]);
    upstream.rows.push(...rowsNamed(['new']));
    const list = upstream.open({
      cache,
      onCall: () => {
        if (list.asked.length === 2) upstream.rows.splice(3, 1);
      },
    });
    expect(ids((await ask({ first: 20 }, list)).nodes)).toEqual(ids(upstream.rows));
    expect(list.asked).toEqual([1, 1, 2]);
  });

  it('are read again with a cached one from before the list had another length for a moment', async () => {
    const upstream = createUpstream(45);
    const cache = new Map([[1, upstream.pageNow(1)]]);
    const after = cursorAt(upstream, 4);
    upstream.rows.push(...rowsNamed(['new']));
    const list = upstream.open({
      cache,
      onCall: (page) => {
        if (page === 3 && list.asked.length === 2) upstream.rows = upstream.rows.slice(1);
      },
    });
    const { nodes } = await ask({ first: 20, after }, list);
    expect(ids(nodes)).toEqual(ids(upstream.rows.slice(4, 24)));
    expect(list.asked.slice(0, 3)).toEqual([2, 3, 1]);
  });

  it('are left as they are after three rounds, and what the window needs is read', async () => {
    const upstream = createUpstream(30);
    const list = upstream.open({
      hint: 30,
      onCall: () => upstream.rows.push(...rowsNamed([`new ${list.asked.length}`])),
    });
    const { nodes } = await ask({ first: 30 }, list);
    expect(ids(nodes)).toEqual(ids(createUpstream(30).rows));
    expect(list.asked.length).toBeLessThanOrEqual(3 + 3 * 3);
  });

  it('do not misplace a cursor newer than the cache', async () => {
    const upstream = createUpstream(40);
    const cache = new Map([[2, upstream.pageNow(2)]]);
    upstream.rows = [...rowsNamed(['new']), ...upstream.rows];
    const list = upstream.open({ cache });
    const after = cursorAt(upstream, 9);
    expect((await ask({ first: 10, after }, list)).nodes).toEqual(upstream.rows.slice(10, 20));
    expect(list.asked).toEqual([1, 2]);
  });

  it('are read again before other pages are searched', async () => {
    const upstream = createUpstream(40);
    const after = cursorAt(upstream, 9);
    const cache = new Map([[2, upstream.pageNow(2)]]);
    upstream.rows = [...rowsNamed(['new']), ...upstream.rows];
    const list = upstream.open({ cache });
    expect((await ask({ first: 20, after }, list)).nodes).toEqual(upstream.rows.slice(11, 31));
    expect(list.asked).toEqual([3, 2, 4]);
  });

  it('do not prevent a result for a list that grows with every call', async () => {
    const upstream = createUpstream(30);
    const list = upstream.open({
      onCall: () => upstream.rows.push(...createUpstream(10).rows),
    });
    expect((await ask({ last: 10 }, list)).nodes).toHaveLength(10);
    expect(list.asked.length).toBeLessThanOrEqual(20);
  });
});

describe('pages with the same row', () => {
  /** One row is added at the head and one removed from the tail, so the length stays. */
  const shift = (upstream: ReturnType<typeof createUpstream>) => {
    upstream.rows = [...rowsNamed(['new']), ...upstream.rows.slice(0, -1)];
  };

  it('are read again if they are older than the change', async () => {
    const upstream = createUpstream(51);
    const cache = new Map([1, 2, 4].map((page) => [page, upstream.pageNow(page)]));
    shift(upstream);
    const list = upstream.open({ cache, hint: 51 });
    expect((await ask({ first: 50 }, list)).nodes).toEqual(upstream.rows.slice(0, 50));
    expect(list.asked).toEqual([3, 5, 1, 2, 4]);
  });

  it('are read again if the list changed between two cached ones', async () => {
    const upstream = createUpstream(21);
    const cache = new Map([[1, upstream.pageNow(1)]]);
    shift(upstream);
    cache.set(2, upstream.pageNow(2));
    const list = upstream.open({ cache, hint: 21 });
    expect((await ask({ first: 20 }, list)).nodes).toEqual(upstream.rows.slice(0, 20));
    expect(list.asked).toEqual([1]);
  });

  it('are not read again if one operation has read them all since a cursor was made', async () => {
    const upstream = createUpstream(50);
    const before = cursorAt(upstream, 35);
    shift(upstream);
    const list = upstream.open();
    expect((await ask({ last: 20, before }, list)).nodes).toEqual(upstream.rows.slice(16, 36));
    expect(list.asked).toEqual([2, 3, 4]);
  });

  it('are read again only once, since the list itself may have a row twice', async () => {
    const upstream = createUpstream(40);
    upstream.rows[35] = upstream.rows[15];
    const list = upstream.open({ hint: 40 });
    expect((await ask({ first: 40 }, list)).nodes).toEqual(upstream.rows);
    expect(list.asked).toEqual([1, 2, 3, 4, 1, 2, 3]);
  });
});

describe('a page that is gone', () => {
  it('is empty, and page one has the length', async () => {
    const list = createUpstream(7).open({ hint: 40, strict: true });
    const { nodes, totalCount } = await ask({ last: 10 }, list);
    expect(ids(nodes)).toEqual(ids(createUpstream(7).rows));
    expect(totalCount).toBe(7);
    expect(list.asked.toSorted((a, b) => a - b)).toEqual([1, 4]);
  });

  it('costs nothing more when a neighbouring page has the length', async () => {
    const list = createUpstream(7).open({ hint: 20, strict: true });
    expect((await ask({ first: 20 }, list)).nodes).toHaveLength(7);
    expect(list.asked).toEqual([1, 2]);
  });

  it('after a cursor continues with the remaining rows', async () => {
    const upstream = createUpstream(41);
    const after = cursorAt(upstream, 39);
    upstream.rows = upstream.rows.filter((_, at) => at >= 15 && at < 40);
    const list = upstream.open({ strict: true });
    expect(await ask({ after }, list)).toMatchObject({
      nodes: [],
      totalCount: 25,
      hasNextPage: false,
      hasPreviousPage: true,
    });
  });

  it('is read again when the length includes it', async () => {
    const upstream = createUpstream(15);
    const answers = upstream.open({ hint: 15 });
    let isGone = true;
    const loadPage: typeof answers.loadPage = (page, options) => {
      if (page !== 2 || !isGone) return answers.loadPage(page, options);
      isGone = false;
      return Promise.reject(notFound());
    };
    const { nodes } = await ask({ first: 15 }, { ...answers, loadPage });
    expect(ids(nodes)).toEqual(ids(upstream.rows));
  });
});
