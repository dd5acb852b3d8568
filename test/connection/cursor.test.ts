import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { connectionFromPages } from '../../src/connection/connection.ts';
import { createCursorCodec, hashOfList } from '../../src/connection/cursor.ts';
import { ask, codec, createUpstream, cursorAt } from '../support/connection/upstream.ts';

const places = fc.record({
  list: fc.nat({ max: 2 ** 48 - 1 }),
  offset: fc.nat({ max: 2 ** 40 }),
  total: fc.nat({ max: 2 ** 40 }),
  ids: fc.array(fc.nat({ max: 2 ** 40 - 1 }), { maxLength: 10 }),
});

describe('a cursor', () => {
  it('tells what was put into it', () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(codec.decode(codec.encode(place))).toEqual(place);
      }),
    );
  });

  it('means the same to every instance with the same secret, and nothing with another', () => {
    const place = { list: hashOfList('a'), offset: 7, total: 9, ids: [1, 2, 3] };
    const text = createCursorCodec('one').encode(place);
    expect(createCursorCodec('one').decode(text)).toEqual(place);
    expect(createCursorCodec('two').decode(text)).toBeUndefined();
  });

  it('is refused with any character changed, cut off or added', () => {
    const text = cursorAt(createUpstream(25), 12);
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === 'A' ? 'B' : 'A';
      expect(codec.decode(text.slice(0, at) + other + text.slice(at + 1))).toBeUndefined();
      expect(codec.decode(text.slice(0, at))).toBeUndefined();
    }
    for (const extra of ['A', '=', ' ', '\n', '!'])
      expect(codec.decode(text + extra)).toBeUndefined();
  });

  it('is never made of garbage', () => {
    fc.assert(fc.property(fc.string(), (text) => codec.decode(text) === undefined));
    expect(codec.decode('A'.repeat(1_000_000))).toBeUndefined();
  });

  it('is refused by another list, with no call', () => {
    const upstream = createUpstream(25);
    const list = upstream.open({ key: 'clients of another clinic' });
    const read = () => connectionFromPages({ after: cursorAt(upstream, 3) }, list, codec);
    expect(read).toThrow('"after" is not a cursor of this list');
    expect(list.asked).toEqual([]);
  });

  it('fits in 96 characters', () => {
    expect(cursorAt(createUpstream(10_000), 9_995).length).toBeLessThanOrEqual(96);
  });

  it('of a row is the same whichever pages were read beside it', async () => {
    const upstream = createUpstream(45);
    const { edges, startCursor, endCursor } = await ask({ first: 31 }, upstream.open());
    expect(edges.map((edge) => edge.cursor())).toEqual(
      edges.map((_, at) => cursorAt(upstream, at)),
    );
    expect([startCursor, endCursor]).toEqual([edges[0]?.cursor(), edges[30]?.cursor()]);
  });
});
