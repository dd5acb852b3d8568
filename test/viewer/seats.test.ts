import { describe, expect, it } from 'vitest';

import { createSeats } from '../../src/viewer/seats.ts';
import { createViewer } from '../../src/viewer/viewer.ts';

function open() {
  const clock = { at: 0, wall: 1_000_000, now: () => clock.at, wallNow: () => clock.wall };
  const looks: (string | undefined)[] = [];
  const authenticate = async (authorization: string | undefined) => {
    looks.push(authorization);
    if (authorization === undefined) throw new Error('nobody');
    return createViewer(authorization, [{ kind: 'partner' }], 1_005_000);
  };
  return { clock, looks, seatOf: createSeats({ authenticate }, clock) };
}

describe('a connection', () => {
  it('has its token looked at once a second', async () => {
    const { clock, looks, seatOf } = open();
    const connection = {};
    await seatOf(connection, 'a');
    clock.at = 999;
    expect(seatOf(connection, 'a')).toMatchObject({ subject: 'a' });
    clock.at = 1_000;
    await seatOf(connection, 'a');
    expect(looks).toEqual(['a', 'a']);
  });

  it('is another viewer’s with another token, and nobody’s without one', async () => {
    const { looks, seatOf } = open();
    const connection = {};
    await seatOf(connection, 'a');
    await expect(seatOf(connection, 'b')).resolves.toMatchObject({ subject: 'b' });
    await expect(seatOf(connection, 'a')).resolves.toMatchObject({ subject: 'a' });
    await expect(seatOf(connection, undefined)).rejects.toThrow('nobody');
    await expect(seatOf({}, 'a')).resolves.toMatchObject({ subject: 'a' });
    expect(looks).toEqual(['a', 'b', 'a', undefined, 'a']);
  });

  it('asks anew in the moment in which the token expires', async () => {
    const { clock, looks, seatOf } = open();
    const connection = {};
    await seatOf(connection, 'a');
    clock.wall = 1_005_000;
    await seatOf(connection, 'a');
    expect(looks).toEqual(['a', 'a']);
  });
});
