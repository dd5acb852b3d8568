import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Connection } from '../../src/connection/connection.ts';
import { pagesOfWindow } from '../../src/connection/window.ts';
import type { Loaded } from '../../src/loaded.ts';
import type { WindowArgs } from '../../src/connection/window.ts';
import { codec, createUpstream, cursorAt } from '../support/connection/upstream.ts';

const rows = { rows: true, ends: true, totals: true };
const ends = { rows: false, ends: true, totals: true };
const totals = { rows: false, ends: false, totals: true };
const nothing = { rows: false, ends: false, totals: false };

describe('the estimate of a window', () => {
  it.each([
    [{}, rows, 1],
    [{ first: 10 }, rows, 1],
    [{ first: 11 }, rows, 2],
    [{ first: 100 }, rows, 10],
    [{ first: 100 }, ends, 2],
    [{ first: 100 }, totals, 1],
    [{ first: 100 }, nothing, 0],
    [{ last: 1 }, rows, 2],
    [{ last: 10 }, rows, 3],
    [{ last: 100 }, rows, 12],
    [{ last: 100 }, ends, 3],
    [{ last: 100 }, totals, 1],
    [{ first: 0 }, rows, 0],
    [{ first: 10, after: 'garbage' }, rows, 0],
  ])('%j, asked for %j: at most %i', (args, asked, most) => {
    expect(pagesOfWindow(args, asked, codec)).toBe(most);
  });

  it.each([
    [9, 10, 1],
    [4, 10, 2],
    [4, 5, 1],
    [94, 10, 1],
    [99, 10, 1],
  ])('behind row %i of 100, for %i rows: exactly %i', (offset, first, most) => {
    const after = cursorAt(createUpstream(100), offset);
    expect(pagesOfWindow({ first, after }, rows, codec)).toBe(most);
  });

  it('is never below the calls made', async () => {
    const shapes = fc.record({
      size: fc.integer({ min: 1, max: 130 }),
      from: fc.constantFrom('first', 'last'),
      count: fc.integer({ min: 1, max: 100 }),
      after: fc.option(fc.nat()),
      before: fc.option(fc.nat()),
      asked: fc.constantFrom(rows, ends, totals),
      hinted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shapes, async ({ size, from, count, after, before, asked, hinted }) => {
        const upstream = createUpstream(size);
        const at = (offset: number | null) =>
          offset === null ? null : cursorAt(upstream, offset % size);
        const args: WindowArgs = { [from]: count, after: at(after), before: at(before) };
        const list = upstream.open(hinted ? { hint: size } : {});
        const connection = new Connection(args, list, codec);
        const { pageInfo } = connection;
        const fields: Loaded<unknown>[] = [pageInfo.hasNextPage(), connection.totalCount()];
        if (asked.ends) fields.push(pageInfo.startCursor(), pageInfo.endCursor());
        if (asked.rows) fields.push(connection.nodes());
        await Promise.all(fields);
        expect(list.asked.length).toBeLessThanOrEqual(pagesOfWindow(args, asked, codec));
      }),
    );
  });
});
