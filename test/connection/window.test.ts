import { describe, expect, it } from 'vitest';

import { BadInput } from '../../src/errors.ts';
import { loadConnection } from '../../src/connection/connection.ts';
import type { WindowArgs } from '../../src/connection/window.ts';
import {
  ask,
  cursors,
  createUpstream,
  cursorAt,
  type OpenedList,
} from '../support/connection/upstream.ts';

async function callsOf(args: WindowArgs, list: OpenedList) {
  await ask(args, list);
  return list.asked;
}

describe('arguments', () => {
  it.each<[WindowArgs, string]>([
    [{ first: 0 }, '"first" must be between 1 and 100, but got 0'],
    [{ first: 101 }, '"first" must be between 1 and 100, but got 101'],
    [{ last: -1 }, '"last" must be between 1 and 100, but got -1'],
    [{ first: 1.5 }, '"first" must be between 1 and 100, but got 1.5'],
    [{ first: 1, last: 1 }, '"first" and "last" exclude each other, but got both'],
    [{ after: '' }, '"after" must be a cursor of this list and its filter, but is not'],
    [{ before: 'garbage' }, '"before" must be a cursor of this list and its filter, but is not'],
  ])('%j are rejected before any call', (args, issue) => {
    const list = createUpstream(25).open();
    expect(() => loadConnection(args, 'rows', list, cursors)).toThrow(new BadInput(issue));
    expect(list.asked).toEqual([]);
  });

  it('are rejected with every problem at once, as bad input', () => {
    const list = createUpstream(1).open();
    expect(() => loadConnection({ first: 0, after: 'x' }, 'rows', list, cursors)).toThrow(
      expect.objectContaining({
        code: 'BAD_USER_INPUT',
        issues: [expect.stringContaining('"first"'), expect.stringContaining('"after"')],
      }),
    );
  });

  it('that are null count as omitted: the first ten', async () => {
    const args = { first: null, after: null, last: null, before: null };
    const { nodes } = await ask(args, createUpstream(25).open());
    expect(nodes.map((row) => row.id)).toEqual(createUpstream(10).rows.map((row) => row?.id));
  });
});

describe('the calls of a window', () => {
  it.each<[string, WindowArgs, number, number[]]>([
    ['the head', { first: 10 }, 25, [1]],
    ['a head of three pages', { first: 25 }, 100, [1, 2, 3]],
    ['a head longer than the list', { first: 25 }, 7, [1]],
    ['a head that ends with the list', { first: 100 }, 20, [1, 2]],
    ['an empty list', { first: 10 }, 0, [1]],
    ['the tail', { last: 10 }, 25, [1, 2, 3]],
    ['a tail of one page', { last: 5 }, 95, [1, 10]],
    ['a tail that holds page one', { last: 20 }, 15, [1, 2]],
    ['the tail of an empty list', { last: 10 }, 0, [1]],
  ])('with no length known: %s', async (_, args, size, pages) => {
    expect(await callsOf(args, createUpstream(size).open())).toEqual(pages);
  });

  it.each<[string, WindowArgs, number, number[]]>([
    ['the tail goes there at once', { last: 10 }, 100, [10]],
    ['a tail over two pages', { last: 10 }, 25, [2, 3]],
    ['a head longer than the list', { first: 100 }, 25, [1, 2, 3]],
    ['an empty list', { last: 10 }, 0, [1]],
  ])('with the length known: %s', async (_, args, size, pages) => {
    expect(await callsOf(args, createUpstream(size).open({ hint: size }))).toEqual(pages);
  });

  it.each<[string, 'first' | 'last', number, 'after' | 'before', number, number[]]>([
    ['behind a full page', 'first', 10, 'after', 9, [2]],
    ['across a boundary', 'first', 4, 'after', 7, [1, 2]],
    ['behind the last row', 'first', 10, 'after', 24, [3]],
    ['behind the last but one', 'first', 10, 'after', 23, [3]],
    ['the tail behind a row', 'last', 3, 'after', 2, [3]],
    ['before a page', 'last', 10, 'before', 20, [2]],
    ['before the middle of a page', 'last', 10, 'before', 15, [1, 2]],
    ['before the first row', 'last', 10, 'before', 0, [1]],
    ['the head before a row', 'first', 3, 'before', 22, [1]],
  ])('at a cursor: %s', async (_, from, count, side, offset, pages) => {
    const upstream = createUpstream(25);
    const args = { [from]: count, [side]: cursorAt(upstream, offset) };
    expect(await callsOf(args, upstream.open())).toEqual(pages);
  });

  it.each([
    [{ first: 25 }, 40, 7, [1, 2, 3]],
    [{ first: 25 }, 7, 100, [1, 2, 3]],
    [{ last: 10 }, 20, 25, [2, 3]],
    [{ last: 10 }, 60, 25, [6, 2, 3]],
  ])('%j, when the length was %i and is %i, are %j', async (args, hint, size, pages) => {
    expect(await callsOf(args, createUpstream(size).open({ hint }))).toEqual(pages);
  });
});
