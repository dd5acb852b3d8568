import { Writable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { createBacklog } from '../../../src/gateway/subscriptions/backlog.ts';

const LIMITS = { socketQueueEvents: 256, socketQueueBytes: 1_048_576 };

/** A client that reads a chunk when a test says so, and is already behind by one. */
function slowReader(first: string) {
  const read: string[] = [];
  let take: (() => void) | undefined;
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      take = () => {
        read.push(chunk);
        take = undefined;
        done();
      };
    },
  });
  const backlog = createBacklog(
    {
      write: (item, onFlushed) => void stream.write(item, onFlushed),
      isFull: () => stream.writableLength > 0,
      bufferedBytes: () => stream.writableLength,
    },
    LIMITS,
  );
  stream.write(first, backlog.flushed);
  const reads = async (): Promise<void> => {
    take?.();
    await new Promise(setImmediate);
  };
  return { backlog, read, reads };
}

describe('the queue of a slow client', () => {
  it('holds at most 256 events', () => {
    const { backlog } = slowReader('x');
    for (let i = 1; i <= 256; i += 1) expect(backlog.put('x')).toBe(true);
    expect(backlog.put('x')).toBe(false);
  });

  it('holds at most 1 MiB, including what is being sent', () => {
    const half = 'x'.repeat(524_288);
    const { backlog } = slowReader(half);
    expect(backlog.put(half)).toBe(true);
    expect(backlog.put('x')).toBe(false);
  });

  it('delivers everything queued to a client that catches up, in order', async () => {
    const { backlog, read, reads } = slowReader('0');
    const sent = Array.from({ length: 100 }, (_, i) => String(i));
    for (const item of sent.slice(1)) backlog.put(item);
    expect(backlog.hasCaughtUp).toBe(false);
    while (!backlog.hasCaughtUp) await reads();
    await backlog.caughtUp;
    expect(read).toEqual(sent);
  });

  it('distinguishes a client that has stopped from a slow one', async () => {
    const { backlog, reads } = slowReader('x');
    backlog.put('y');
    expect(backlog.isStalled(performance.now() + 1_000)).toBe(false);
    expect(backlog.isStalled(performance.now() + 11_000)).toBe(true);
    const before = performance.now();
    await reads();
    expect(backlog.isStalled(before + 10_000)).toBe(false);
  });

  it('is dropped once its client is disconnected, and blocks no sender', async () => {
    const { backlog, read, reads } = slowReader('x');
    backlog.put('y');
    backlog.drop();
    await backlog.caughtUp;
    await reads();
    await reads();
    expect(read).toEqual(['x']);
  });
});
