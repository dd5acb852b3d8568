import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { loadConnection } from '../../src/connection/connection.ts';
import { type Need, type WindowArgs, maxPagesOfWindow } from '../../src/connection/window.ts';
import { cursors, createUpstream, cursorAt } from '../support/connection/upstream.ts';

describe('the estimate of a window', () => {
  it.each<[WindowArgs, Need, number]>([
    [{}, 'rows', 1],
    [{ first: 10 }, 'rows', 1],
    [{ first: 11 }, 'rows', 2],
    [{ first: 100 }, 'rows', 10],
    [{ first: 100 }, 'cursors', 2],
    [{ first: 100 }, 'offsets', 1],
    [{ first: 100 }, 'total', 1],
    [{ first: 100 }, 'nothing', 0],
    [{ last: 1 }, 'rows', 2],
    [{ last: 10 }, 'rows', 3],
    [{ last: 100 }, 'rows', 12],
    [{ last: 100 }, 'cursors', 3],
    [{ last: 100 }, 'offsets', 1],
    [{ first: 0 }, 'rows', 0],
    [{ first: 10, after: 'cursor' }, 'rows', 2],
    [{ last: 10, before: 'cursor' }, 'rows', 2],
  ])('%j, needed for %s: at most %i', (args, need, most) => {
    expect(maxPagesOfWindow(args, need)).toBe(most);
  });

  it('is never below the calls made', async () => {
    const shapes = fc.record({
      size: fc.integer({ min: 1, max: 130 }),
      from: fc.constantFrom('first', 'last'),
      count: fc.integer({ min: 1, max: 100 }),
      after: fc.option(fc.nat()),
      before: fc.option(fc.nat()),
      need: fc.constantFrom<Need[]>('rows', 'cursors', 'offsets', 'total', 'nothing'),
      hinted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(shapes, async ({ size, from, count, after, before, need, hinted }) => {
        const upstream = createUpstream(size);
        const at = (offset: number | null) =>
          offset === null ? null : cursorAt(upstream, offset % size);
        const args: WindowArgs = { [from]: count, after: at(after), before: at(before) };
        const list = upstream.open(hinted ? { hint: size } : {});
        await loadConnection(args, need, list, cursors);
        expect(list.asked.length).toBeLessThanOrEqual(maxPagesOfWindow(args, need));
      }),
    );
  });
});
