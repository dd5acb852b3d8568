import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventCursors } from '../support/events/open-hub.ts';

const epochs = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 });
const positions = fc.nat({ max: Number.MAX_SAFE_INTEGER });

describe('an event cursor', () => {
  it('decodes to the epoch and position that it was made from', () => {
    fc.assert(
      fc.property(epochs, positions, (epoch, position) => {
        expect(eventCursors.decode(eventCursors.encode(epoch, position))).toEqual({
          epoch,
          position,
        });
      }),
    );
  });

  it('is short enough for the scalar with the epochs that stores generate', () => {
    const cursor = eventCursors.encode(crypto.randomUUID(), Number.MAX_SAFE_INTEGER);
    expect(cursor.length).toBeLessThanOrEqual(100);
  });
});
