import { createHmac, hkdfSync } from 'node:crypto';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type CursorPosition, shortHash } from '../src/connection/cursor.ts';
import type { EventPosition } from '../src/events/event-hub.ts';
import { createMac, createSealer } from '../src/sealed-text.ts';

const sealer = createSealer<unknown>('a secret for tests', 'a purpose');
const bytesOf = (text: string) => Buffer.from(text, 'base64url');
const contents = fc.jsonValue().filter((value) => JSON.stringify(value).length <= 100);

/** The most bytes in a row that are the same, at the same offset, in both texts. */
function longestCommonRun(one: string, other: string): number {
  const [a, b] = [bytesOf(one), bytesOf(other)];
  let [longest, run] = [0, 0];
  for (const [at, byte] of a.entries()) {
    run = byte === b[at] ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

it('authenticates with HMAC-SHA-256', () => {
  const key = Buffer.from(hkdfSync('sha256', 'a secret', '', 'partner-graph a purpose', 32));
  const mac = createMac('a secret', 'a purpose');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(mac(bytes)).toBe(createHmac('sha256', key).update(bytes).digest('binary'));
    }),
  );
});

describe('sealed text', () => {
  it('opens to what was sealed, and is the same every time', () => {
    fc.assert(
      fc.property(contents, (value) => {
        const text = sealer.seal(value);
        expect(JSON.stringify(sealer.open(text))).toBe(JSON.stringify(value));
        expect(createSealer('a secret for tests', 'a purpose').seal(value)).toBe(text);
      }),
    );
  });

  it('is rejected with any bit changed', () => {
    const bytes = bytesOf(sealer.seal('some contents'));
    for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(sealer.open(changed.toString('base64url'))).toBeUndefined();
    }
  });

  it('has one spelling', () => {
    const text = sealer.seal(7);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const opened = Array.from(alphabet).filter((last) => sealer.open(text.slice(0, -1) + last));
    expect(opened).toEqual([text.at(-1)]);
    for (const other of [`${text}=`, `${text}A`, ` ${text}`, `${text}\n`, text.slice(0, -1)])
      expect(sealer.open(other)).toBeUndefined();
    const standard = bytesOf(text).toString('base64');
    expect(standard).toMatch(/[+/]/);
    expect(sealer.open(standard)).toBeUndefined();
  });

  it('rejects garbage, the empty text and a very long one', () => {
    fc.assert(fc.property(fc.string(), (text) => sealer.open(text) === undefined));
    expect(sealer.open('')).toBeUndefined();
    expect(sealer.open('A'.repeat(1_000_000))).toBeUndefined();
    expect(sealer.open(sealer.seal('A'.repeat(200)))).toBeUndefined();
  });

  it('of another secret or purpose is rejected', () => {
    const text = sealer.seal('some contents');
    expect(createSealer('another secret', 'a purpose').open(text)).toBeUndefined();
    expect(createSealer('a secret for tests', 'another purpose').open(text)).toBeUndefined();
  });

  it('of the previous secret is accepted while that is configured', () => {
    const value = 'some contents';
    const old = sealer.seal(value);
    const rotated = createSealer('a new secret', 'a purpose', 'a secret for tests');
    expect(rotated.open(old)).toBe(value);
    expect(rotated.seal(value)).toBe(createSealer('a new secret', 'a purpose').seal(value));
    expect(rotated.open(createSealer('a third', 'a purpose').seal(value))).toBeUndefined();
    expect(createSealer('a new secret', 'a purpose').open(old)).toBeUndefined();
  });
});

describe('a cursor reveals nothing', () => {
  const lists = createSealer<CursorPosition>('a secret for tests', 'list position');
  const events = createSealer<EventPosition>('a secret for tests', 'event position');
  const key = 'clients of a clinic?dateOfBirth=1990-03-01';
  const ofList = (offset: number, total = 25, ids: readonly string[] = []) =>
    lists.seal({ list: shortHash(key), offset, total, ids });
  const ofLog = (position: number) => events.seal({ epoch: 'an epoch', position, receivedAt: 0 });

  it('about the list: its hash, from which a filter could be guessed, is in no cursor', () => {
    for (let offset = 0; offset < 25; offset += 1)
      expect(bytesOf(ofList(offset)).includes(shortHash(key))).toBe(false);
  });

  it('about the log: neither its position nor its epoch is in a cursor', () => {
    const bytes = bytesOf(ofLog(123_456_789));
    expect(bytes.includes('an epoch')).toBe(false);
    expect(bytes.includes('123456789')).toBe(false);
  });

  it.each([
    ['of a list', (at: number) => ofList(at)],
    ['of the log', ofLog],
  ])('about its neighbours %s: no two share a part', (_, cursorAt) => {
    for (let at = 0; at < 200; at += 1)
      expect(longestCommonRun(cursorAt(at), cursorAt(at + 1))).toBeLessThan(4);
  });

  it('by its order or its length', () => {
    const positions = [0, 1, 127, 128, 40_000, 2 ** 31, Number.MAX_SAFE_INTEGER];
    const texts = positions.map(ofLog);
    expect(new Set(texts.map((text) => text.length)).size).toBe(1);
    expect(texts.toSorted()).not.toEqual(texts);
    const ofLists = [ofList(0, 1), ofList(9_999, 10_000, Array(10).fill('7 chars'))];
    expect(new Set(ofLists.map((text) => text.length)).size).toBe(1);
  });
});
