import { describe, expect, it } from 'vitest';

import { ask, createUpstream, cursorAt, cursors } from '../support/connection/upstream.ts';

describe('a cursor', () => {
  it('opens to what it was made from, in the longest list and from a full page', () => {
    const upstream = createUpstream(10);
    const position = cursors.open(cursorAt(upstream, 9))!;
    // No list is longer: GraphQL's Int could not hold its `totalCount`.
    const longest = { ...position, offset: 2 ** 31 - 2, total: 2 ** 31 - 1 };
    expect(new Set(position.ids).size).toBe(10);
    expect(cursors.open(cursors.seal(longest))).toEqual(longest);
  });

  it('holds an empty id for a row without one and past the last row', () => {
    const upstream = createUpstream(3);
    upstream.rows[1] = undefined;
    const { ids } = cursors.open(cursorAt(upstream, 0))!;
    expect(ids.map((id) => id.length)).toEqual([7, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
  });

  it('of a row is the same whichever pages were read beside it', async () => {
    const upstream = createUpstream(45);
    const { edges, startCursor, endCursor } = await ask({ first: 31 }, upstream.open());
    const made = edges.map(({ connection, offset }) => connection.cursorAt(offset));
    expect(made).toEqual(edges.map((_, at) => cursorAt(upstream, at)));
    expect([startCursor, endCursor]).toEqual([made[0], made[30]]);
  });
});
