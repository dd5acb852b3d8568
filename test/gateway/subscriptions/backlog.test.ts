import { describe, expect, it } from 'vitest';

import { Backlog } from '../../../src/gateway/open-connections.ts';

const LIMITS = { socketQueueEvents: 256, socketQueueBytes: 1_048_576 };

describe('the queue of a slow client', () => {
  it('holds at most 256 events', () => {
    const backlog = new Backlog();
    for (let i = 1; i <= 256; i += 1) expect(backlog.put('x', LIMITS)).toBeDefined();
    expect(backlog.put('x', LIMITS)).toBeUndefined();
  });

  it('holds at most 1 MiB, or one event that is larger', () => {
    const backlog = new Backlog();
    const half = 'x'.repeat(524_288);
    const large = 'x'.repeat(2_000_000);
    const isPut = (text: string) => backlog.put(text, LIMITS) !== undefined;
    expect([half, half, 'x'].map(isPut)).toEqual([true, true, false]);
    expect([backlog.take(), backlog.take()]).toEqual([half, half]);
    expect([large, 'x'].map(isPut)).toEqual([true, false]);
  });

  it('returns everything queued in order, and then the client has caught up', async () => {
    const backlog = new Backlog();
    const sent = Array.from({ length: 100 }, (_, i) => String(i));
    for (const item of sent) void backlog.put(item, LIMITS);
    expect(sent.map(() => backlog.take())).toEqual(sent);
    expect(backlog.take()).toBeUndefined();
    await backlog.caughtUp.promise;
  });
});
