import { describe, expect, it } from 'vitest';

import type { GatewayParts } from '../../../src/gateway/gateway.ts';
import { createBacklog, createLimit } from '../../../src/gateway/open-connections.ts';
import { SANDBOX_VIEWER } from '../../../src/viewer/viewer.ts';

function openBacklog(unread = createLimit<string>(2 ** 30)) {
  const limits = { socketQueueEvents: 256, socketQueueBytes: 1_048_576 };
  const parts = { config: { limits }, connections: { unread } } as unknown as GatewayParts;
  return createBacklog(parts, SANDBOX_VIEWER);
}

function arePut(...texts: string[]): boolean[] {
  const backlog = openBacklog();
  return texts.map((text) => backlog.put(text));
}

describe('the queue of a slow client', () => {
  it('holds at most 256 events', () => {
    const backlog = openBacklog();
    for (let i = 1; i <= 256; i += 1) expect(backlog.put('x')).toBe(true);
    expect(backlog.put('x')).toBe(false);
  });

  it('holds at most 1 MiB, or one event that is larger', () => {
    const half = 'x'.repeat(524_288);
    const large = 'x'.repeat(2_000_000);
    expect(arePut(half, half, 'x')).toEqual([true, true, false]);
    expect(arePut(large, 'x')).toEqual([true, false]);
  });

  it('returns everything queued in order, and then the client has caught up', async () => {
    const backlog = openBacklog();
    expect(backlog.caughtUp).toBeUndefined();
    const sent = Array.from({ length: 100 }, (_, i) => String(i));
    for (const item of sent) backlog.put(item);
    const { caughtUp } = backlog;
    expect(sent.map(() => backlog.take())).toEqual(sent);
    expect(backlog.caughtUp).toBe(caughtUp);
    expect(backlog.take()).toBeUndefined();
    await caughtUp;
    expect(backlog.caughtUp).toBeUndefined();
  });

  it('counts large events as unread until they are sent or dropped', () => {
    const unread = createLimit<string>(250, 100);
    const [first, second] = [openBacklog(unread), openBacklog(unread)];
    const large = 'x'.repeat(100);
    for (const text of [large, large, large, 'x']) expect(first.put(text)).toBe(true);
    expect([second.put(large), second.put('x')]).toEqual([false, true]);
    first.take();
    first.take();
    expect([...unread.used.values()]).toEqual([200]);
    first.clear();
    expect([...unread.used.values()]).toEqual([100]);
    first.take();
    expect(unread.used.size).toBe(0);
  });
});
