import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { ask, codec, createUpstream, cursorAt } from '../support/connection/upstream.ts';

const positions = fc.record({
  list: fc.nat({ max: 2 ** 48 - 1 }),
  // No list is longer: GraphQL's Int could not hold its `totalCount`.
  offset: fc.nat({ max: 2 ** 31 - 1 }),
  total: fc.nat({ max: 2 ** 31 - 1 }),
  ids: fc.array(fc.nat({ max: 2 ** 40 - 1 }), { maxLength: 10 }),
});

describe('a cursor', () => {
  it('decodes to what it was made from, its ids padded to a page', () => {
    fc.assert(
      fc.property(positions, (position) => {
        const ids = [...position.ids, ...Array<number>(10).fill(0)].slice(0, 10);
        expect(codec.decode(codec.encode(position))).toEqual({ ...position, ids });
      }),
    );
  });

  it('fits in 108 characters', () => {
    expect(cursorAt(createUpstream(10_000), 9_995).length).toBeLessThanOrEqual(108);
  });

  it('of a row is the same whichever pages were read beside it', async () => {
    const upstream = createUpstream(45);
    const { edges, startCursor, endCursor } = await ask({ first: 31 }, upstream.open());
    const cursors = edges.map(({ connection, offset }) => connection.cursorAt(offset));
    expect(cursors).toEqual(edges.map((_, at) => cursorAt(upstream, at)));
    expect([startCursor, endCursor]).toEqual([cursors[0], cursors[30]]);
  });
});
