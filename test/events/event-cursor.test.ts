import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from '../../src/events/event-cursor.ts';

const epochs = fc.string({ minLength: 1, maxLength: 40 });
const positions = fc.nat({ max: Number.MAX_SAFE_INTEGER });

describe('an event cursor', () => {
  it('gives back the epoch and position it was made of', () => {
    fc.assert(
      fc.property(epochs, positions, (epoch, position) => {
        expect(decodeCursor(encodeCursor(epoch, position))).toEqual({ epoch, position });
      }),
    );
  });

  it('is refused with any one character changed, left out or added', () => {
    const cursor = encodeCursor('3f0c9a', 42);
    for (let i = 0; i < cursor.length; i += 1) {
      const other = cursor[i] === 'A' ? 'B' : 'A';
      expect(decodeCursor(`${cursor.slice(0, i)}${other}${cursor.slice(i + 1)}`)).toBeUndefined();
      expect(decodeCursor(cursor.slice(0, i) + cursor.slice(i + 1))).toBeUndefined();
      expect(decodeCursor(`${cursor.slice(0, i)} ${cursor.slice(i)}`)).toBeUndefined();
    }
  });

  it('is refused, never misread, when it is garbage', () => {
    for (const text of ['', '0', '-1', 'null', '__proto__', 'x'.repeat(100_000), '====', '💥']) {
      expect(decodeCursor(text)).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => decodeCursor(text) === undefined));
  });
});
