import { setImmediate } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { endOfTurn } from '../src/end-of-turn.ts';

test('resumes all who wait in one turn together, after what else happens in it', async () => {
  const order: string[] = [];
  const step = async (name: string) => {
    await endOfTurn();
    order.push(`${name} 1`);
    await Promise.resolve();
    order.push(`${name} 2`);
  };
  const all = Promise.all([step('a'), step('b')]);
  await new Promise((resolve) => process.nextTick(resolve));
  order.push('tick');
  await all;
  expect(order).toEqual(['tick', 'a 1', 'b 1', 'a 2', 'b 2']);
});

test('begins anew in the next turn', async () => {
  const first = endOfTurn();
  await first;
  const second = endOfTurn();
  expect(second).not.toBe(first);
  expect(await Promise.race([second.then(() => 'waits'), Promise.resolve('at once')])).toBe(
    'at once',
  );
  await setImmediate();
  await second;
});
