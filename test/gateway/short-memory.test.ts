import { describe, expect, it, vi } from 'vitest';

import { createShortMemory } from '../../src/gateway/short-memory.ts';

function open() {
  const clock = { at: 10_000 };
  let measured: string[] = [];
  const memory = createShortMemory<string, { expiresAt: number; isValid: () => boolean }>({
    mostBytes: 3,
    bytesOf: (_value, key) => {
      measured.push(key);
      return 1;
    },
    now: () => clock.at,
  });
  const until = (expiresAt: number, isValid = () => true) => ({ expiresAt, isValid });
  const removed = () => {
    const names = measured;
    measured = [];
    return names;
  };
  return { clock, memory, until, removed };
}

describe('what is remembered for moments', () => {
  it('is there until its time is over', () => {
    const { clock, memory, until } = open();
    memory.set('a', until(10_100));
    clock.at = 10_099;
    expect(memory.get('a')).toBeDefined();
    clock.at = 10_100;
    expect(memory.get('a')).toBeUndefined();
  });

  it('is there while it is right', () => {
    const { memory, until } = open();
    let right = true;
    memory.set(
      'a',
      until(20_000, () => right),
    );
    expect(memory.get('a')).toBeDefined();
    right = false;
    expect(memory.get('a')).toBeUndefined();
  });

  it('goes, the oldest first, when there is too much of it', () => {
    const { memory, until } = open();
    for (const key of ['a', 'b', 'c', 'a', 'd']) memory.set(key, until(20_000));
    expect(['a', 'b', 'c', 'd'].filter((key) => memory.get(key))).toEqual(['a', 'c', 'd']);
  });

  it('goes within a second of being over, though nobody asks for it', () => {
    vi.useFakeTimers();
    const { clock, memory, until, removed } = open();
    memory.set('a', until(10_100));
    memory.set('b', until(60_000));
    clock.at = 11_001;
    removed();
    vi.advanceTimersByTime(1_000);
    expect(removed()).toEqual(['a']);
    vi.useRealTimers();
  });
});
