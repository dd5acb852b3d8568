import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { WindowArgs } from '../../src/connection/window.ts';
import {
  ask,
  createUpstream,
  cursorAt,
  rowsNamed,
  type Row,
  type Upstream,
} from '../support/connection/upstream.ts';

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `row ${from + at}`);

const shown = async (args: WindowArgs, list: ReturnType<Upstream['open']>) =>
  (await ask(args, list)).nodes.map((row) => row.id);

/** Takes a cursor at `offset`, then replaces the rows `from` to `to` by new ones. */
function changed(size: number, offset: number, from: number, to: number, added: number) {
  const upstream = createUpstream(size);
  const cursor = cursorAt(upstream, offset);
  const names = Array.from({ length: added }, (_, at) => `new ${at}`);
  upstream.rows = upstream.rows.toSpliced(from, to - from, ...rowsNamed(names));
  return { cursor, list: upstream.open(), upstream };
}

describe('after a change, the next page', () => {
  it.each<[string, number, [number, number, number], string[], number[]]>([
    ['nothing changed', 9, [0, 0, 0], numbers(10, 20), [2]],
    ['added at the head, seen on the page read', 9, [0, 0, 1], numbers(10, 20), [2, 3]],
    ['removed at the head', 9, [0, 1, 0], numbers(10, 20), [2, 1]],
    ['a page added at the head', 9, [0, 0, 10], numbers(10, 20), [2, 3]],
    ['added at the tail', 9, [50, 50, 1], numbers(10, 20), [2, 1]],
    ['removed at the tail', 9, [49, 50, 0], numbers(10, 20), [2, 1]],
    ['the anchor removed', 9, [9, 10, 0], numbers(10, 20), [2, 1]],
    ['the anchor and five before it removed', 9, [4, 10, 0], numbers(10, 20), [2, 1]],
    ['the anchor removed, first on its page', 10, [10, 11, 0], numbers(11, 21), [2, 3, 1]],
    ['in the middle of a page, added at the tail', 14, [50, 50, 1], numbers(15, 25), [2, 3]],
    ['in the middle of a page, added at the head', 14, [0, 0, 2], numbers(15, 25), [2, 3]],
    ['two pages added before the anchor', 9, [9, 9, 20], numbers(10, 20), [2, 1, 3, 4]],
    ['two pages removed at the head', 34, [0, 20, 0], numbers(35, 45), [4, 5, 2, 3]],
  ])('%s', async (_, offset, [from, to, added], rows, pages) => {
    const { cursor, list } = changed(50, offset, from, to, added);
    expect(await shown({ first: 10, after: cursor }, list)).toEqual(rows);
    expect(list.asked).toEqual(pages);
  });

  it('backward, has the rows right before the cursor when two pages were added there', async () => {
    const { cursor, list } = changed(45, 35, 33, 33, 18);
    const rows = await shown({ last: 10, before: cursor }, list);
    expect(rows.slice(-3)).toEqual(['row new 17', 'row 33', 'row 34']);
  });

  it('takes few pages when the row was replaced by a thousand', async () => {
    const { cursor, list } = changed(50, 5, 5, 6, 1_000);
    expect((await shown({ first: 1, after: cursor }, list))[0]).toMatch(/new/);
    expect(list.asked.length).toBeLessThan(8);
  });

  it('searches without the cache', async () => {
    const { cursor, upstream } = changed(50, 9, 0, 1, 0);
    const list = upstream.open({ cache: new Map([[1, upstream.pageNow(1)]]) });
    await shown({ first: 10, after: cursor }, list);
    expect(list.asked).toEqual([2, 1]);
  });

  it('continues at the start of its page when no row of the page is left', async () => {
    const { cursor, list } = changed(50, 19, 10, 20, 0);
    expect(await shown({ first: 5, after: cursor }, list)).toEqual(numbers(20, 25));
    expect(list.asked).toEqual([3, 2, 1, 4]);
  });

  it('is found in a few pages of a long list when no row of the page is left', async () => {
    const head = changed(12_000, 9, 0, 10, 0);
    expect(await shown({ first: 10, after: head.cursor }, head.list)).toEqual(numbers(10, 20));
    expect(head.list.asked).toEqual([2, 1, 3, 4]);
    const tail = changed(2_001, 2_000, 2_000, 2_001, 0);
    expect(await shown({ last: 5, before: tail.cursor }, tail.list)).toEqual(numbers(1_995, 2_000));
    expect(tail.list.asked).toEqual([200, 199, 198, 197]);
  });

  it('is found at the head when all rows before it are gone, and even more after it', async () => {
    const upstream = createUpstream(200);
    const cursor = cursorAt(upstream, 64);
    upstream.rows = upstream.rows.slice(64, 104);
    expect(await shown({ first: 5, after: cursor }, upstream.open())).toEqual(numbers(65, 70));
  });

  it('falls back to the end of a list that was emptied', async () => {
    const { cursor, list } = changed(50, 19, 0, 50, 0);
    expect(await ask({ after: cursor }, list)).toMatchObject({ nodes: [], hasPreviousPage: false });
  });

  it('does not detect one added and one removed beyond the page it reads', async () => {
    const { cursor, list, upstream } = changed(50, 9, 0, 1, 0);
    upstream.rows.push(...rowsNamed(['new']));
    expect(await shown({ first: 10, after: cursor }, list)).toEqual(numbers(11, 21));
    expect(list.asked).toEqual([2]);
  });

  it('detects one added and one removed on the page it reads', async () => {
    const { cursor, list, upstream } = changed(50, 9, 0, 0, 1);
    upstream.rows.pop();
    expect(await shown({ first: 10, after: cursor }, list)).toEqual(numbers(10, 20));
  });
});

describe('after a change, the previous page', () => {
  it.each<[string, number, [number, number, number], string[], number[]]>([
    ['nothing changed', 20, [0, 0, 0], numbers(10, 20), [2]],
    ['added at the head', 20, [0, 0, 1], numbers(10, 20), [2, 3]],
    ['removed at the head, seen on the page read', 20, [0, 1, 0], numbers(10, 20), [2, 1]],
    ['added at the tail', 20, [50, 50, 1], numbers(10, 20), [2, 3]],
    ['the anchor removed', 20, [20, 21, 0], numbers(10, 20), [2, 3]],
    ['the anchor and five behind it removed', 20, [20, 26, 0], numbers(10, 20), [2, 3]],
    ['the anchor removed in the middle of a page', 24, [24, 25, 0], numbers(14, 24), [2, 3]],
    ['removed between', 24, [21, 22, 0], [...numbers(13, 21), ...numbers(22, 24)], [2, 3]],
  ])('%s', async (_, offset, [from, to, added], rows, pages) => {
    const { cursor, list } = changed(50, offset, from, to, added);
    expect(await shown({ last: 10, before: cursor }, list)).toEqual(rows);
    expect(list.asked).toEqual(pages);
  });
});

it('a window between two cursors moves with both', async () => {
  const upstream = createUpstream(60);
  const [after, before] = [cursorAt(upstream, 12), cursorAt(upstream, 31)];
  upstream.rows = [...rowsNamed(['a', 'b', 'c']), ...upstream.rows.toSpliced(20, 1)];
  const rows = [...numbers(13, 20), ...numbers(21, 31)];
  expect(await shown({ first: 50, after, before }, upstream.open())).toEqual(rows);
  expect(await shown({ last: 50, after, before }, upstream.open())).toEqual(rows);
});

/** One change: where, as a share of the list, and how many rows are removed and added there. */
const changes = fc.array(
  fc.record({
    at: fc.constantFrom(0, 0.2, 0.5, 0.8, 1),
    near: fc.integer({ min: -2, max: 2 }),
    atAnchor: fc.boolean(),
    removed: fc.nat({ max: 3 }),
    added: fc.nat({ max: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);
const walks = fc.record({
  size: fc.integer({ min: 1, max: 90 }),
  count: fc.oneof(fc.constantFrom(5, 10, 20), fc.integer({ min: 1, max: 35 })),
  steps: fc.array(changes, { minLength: 1, maxLength: 4 }),
});
type Change = Parameters<Parameters<typeof changes.map>[0]>[0][number];

/** Applies a change so that it can be detected: another length, and at least one row of the anchor's page stays. */
function applied(
  rows: readonly (Row | undefined)[],
  change: readonly Change[],
  anchor: number,
  step: number,
) {
  const page = rows.slice(anchor - (anchor % 10), anchor - (anchor % 10) + 10);
  const survivor = page[(anchor * 7 + step) % page.length];
  let next = [...rows];
  for (const [index, { at, near, atAnchor, removed, added }] of change.entries()) {
    const place = Math.max(0, Math.round(atAnchor ? anchor : at * next.length) + near);
    const names = Array.from({ length: added }, (_, n) => `new ${step}.${index}.${n}`);
    const gone = next.slice(place, place + removed).filter((row) => row !== survivor);
    next.splice(place, 0, ...rowsNamed(names));
    next = next.filter((row) => !gone.includes(row));
  }
  return next.length === rows.length ? [...next, ...rowsNamed([`last ${step}`])] : next;
}

it.each([
  ['first', 'after', 'hasNextPage', 'endCursor'],
  ['last', 'before', 'hasPreviousPage', 'startCursor'],
] as const)(
  'a traversal by %s and %s repeats and skips no row that is always present',
  async (from, side, more, end) => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ size, count, steps }) => {
        const upstream = createUpstream(size);
        let constant = upstream.rows;
        let seen: Row[] = [];
        let offset = from === 'first' ? -1 : size;
        const pending = [...steps];
        for (let cursor: string | null = null, hasMore = true; hasMore;) {
          const page = await ask({ [from]: count, [side]: cursor }, upstream.open());
          seen = from === 'first' ? [...seen, ...page.nodes] : [...page.nodes, ...seen];
          expect(seen.length, 'it does not end').toBeLessThan(200);
          [cursor, hasMore] = [page[end], page[more]];
          const anchor = from === 'first' ? page.nodes.at(-1) : page.nodes[0];
          offset = upstream.rows.indexOf(anchor);
          const change = pending.shift();
          if (change === undefined || !hasMore) continue;
          upstream.rows = applied(upstream.rows, change, offset, pending.length);
          constant = constant.filter((row) => upstream.rows.includes(row));
        }
        expect(seen.filter((row) => constant.includes(row))).toEqual(constant);
        expect(new Set(seen).size).toBe(seen.length);
      }),
      { numRuns: 150 },
    );
  },
);
