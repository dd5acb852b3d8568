import { randomUUID } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { engines } from '../support/store/engines.ts';

describe.each(engines)('the list positions of clients in the $name store', ({ create }) => {
  it('are available at once and kept over a restart, pages before whole lists', async () => {
    await using engine = await create();
    const [client, clinic, clinician] = [randomUUID(), randomUUID(), randomUUID()];
    const places = [
      { kind: 'clinician', id: clinician, page: 3 },
      { kind: 'clinic', id: clinic, page: undefined },
    ] as const;
    const [first] = await engine.open();
    for (const place of places.toReversed()) first.places.record(client, place);
    expect(await first.places.of(client)).toEqual(places);
    const again = await engine.reopen();
    expect(await again.places.of(client)).toEqual(places);
    expect(await again.places.of(randomUUID())).toEqual([]);
  });

  it('keep a page that was read when an event names only the list', async () => {
    await using engine = await create();
    const [client, id] = [randomUUID(), randomUUID()];
    const [first] = await engine.open();
    first.places.record(client, { kind: 'clinic', id, page: 7 });
    const second = await engine.reopen();
    second.places.record(client, { kind: 'clinic', id });
    const third = await engine.reopen();
    expect(await third.places.of(client)).toEqual([{ kind: 'clinic', id, page: 7 }]);
  });

  it('are removed where a list does not contain the client any more', async () => {
    await using engine = await create();
    const [client, id] = [randomUUID(), randomUUID()];
    const [first] = await engine.open();
    first.places.record(client, { kind: 'clinic', id, page: 7 });
    first.places.remove(client, { kind: 'clinic', id });
    expect(await first.places.of(client)).toEqual([]);
    expect(await (await engine.reopen()).places.of(client)).toEqual([]);
  });
});
