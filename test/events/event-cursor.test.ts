import { describe, expect, it } from 'vitest';

import { eventCursors } from '../support/events/open-hub.ts';

describe('an event cursor', () => {
  it('opens to its position with the epochs that stores generate', () => {
    for (const position of [0, 1, 40_000, Number.MAX_SAFE_INTEGER]) {
      const at = { epoch: crypto.randomUUID(), position };
      expect(eventCursors.open(eventCursors.seal(at))).toEqual(at);
    }
  });
});
