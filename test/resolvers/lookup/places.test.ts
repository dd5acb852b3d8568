import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { StoreUnavailable } from '../../../src/errors.ts';
import type { EventFacts } from '../../../src/events/partner-event.ts';
import {
  createPlaces,
  clientsOfClinic,
  clientsOfClinician,
} from '../../../src/resolvers/lookup/places.ts';
import type { Store } from '../../../src/store/store.ts';
import type { Uuid } from '../../../src/uuid.ts';
import { type Engine, engines } from '../../support/store/engines.ts';

const uuid = () => randomUUID() as Uuid;
const pageWith = (id: string, page: number) => ({ rows: [{ id }], total: 100, page });

describe.each(engines)('the places of clients in the $name store', ({ create }) => {
  let engine: Engine;
  let store: Store;
  beforeAll(async () => {
    engine = await create();
    [store] = await engine.open();
  });
  afterAll(() => engine[Symbol.asyncDispose]());

  it('are available at once and kept over a restart', async () => {
    const [client, clinic, clinician] = [uuid(), uuid(), uuid()];
    const places = [
      { list: clientsOfClinician(clinician), page: 3 },
      { list: clientsOfClinic(clinic), page: undefined },
    ];
    const first = createPlaces(store.keys);
    first.record(clientsOfClinician(clinician), pageWith(client, 3));
    first.record({ ...clientsOfClinic(clinic), filter: { firstName: 'A' } }, pageWith(client, 1));
    expect(await first.of(client)).toEqual(places);
    await first[Symbol.asyncDispose]();
    store = await engine.reopen();
    await using again = createPlaces(store.keys);
    expect(await again.of(client)).toEqual(places);
    expect(await again.of(uuid())).toEqual([]);
  });

  it('keep a page that was read when an event names only the list', async () => {
    const [clientId, clinicId, clinicianId] = [uuid(), uuid(), uuid()];
    const first = createPlaces(store.keys);
    first.record(clientsOfClinic(clinicId), pageWith(clientId, 7));
    await first[Symbol.asyncDispose]();
    const second = createPlaces(store.keys);
    const event = { type: 'transcript_ready', sessionId: uuid(), clientId, clinicId, clinicianId };
    second.recordEvent(event as EventFacts);
    await second[Symbol.asyncDispose]();
    await using third = createPlaces(store.keys);
    expect(await third.of(clientId)).toEqual([
      { list: clientsOfClinic(clinicId), page: 7 },
      { list: clientsOfClinician(clinicianId), page: undefined },
    ]);
  });

  it('are removed where a list does not contain the client any more', async () => {
    const [client, clinic] = [uuid(), uuid()];
    const first = createPlaces(store.keys);
    first.record(clientsOfClinic(clinic), pageWith(client, 7));
    first.remove(clientsOfClinic(clinic), client);
    expect(await first.of(client)).toEqual([]);
    await first[Symbol.asyncDispose]();
    await using again = createPlaces(store.keys);
    expect(await again.of(client)).toEqual([]);
  });

  it('are not stored for an id that no list contains', async () => {
    const client = uuid();
    const places = createPlaces(store.keys);
    places.remove(clientsOfClinic(uuid()), client);
    await places[Symbol.asyncDispose]();
    expect(await store.keys.get([`places:${client}`])).toEqual([null]);
  });

  it('are stored with the next page that is read if the store was down', async () => {
    const [client, clinic] = [uuid(), uuid()];
    const { keys } = store;
    const failed = Promise.withResolvers<void>();
    let isDown = true;
    const put: typeof keys.put = async (...args) => {
      if (!isDown) return keys.put(...args);
      failed.resolve();
      throw new StoreUnavailable('the disk is full');
    };
    const places = createPlaces({ ...keys, put });
    places.record(clientsOfClinic(clinic), pageWith(client, 7));
    await failed.promise;
    await new Promise(setImmediate);
    isDown = false;
    places.record(clientsOfClinic(clinic), pageWith(client, 7));
    await places[Symbol.asyncDispose]();
    await using again = createPlaces(keys);
    expect(await again.of(client)).toEqual([{ list: clientsOfClinic(clinic), page: 7 }]);
  });

  it('are the 16 most recent lists of a client', async () => {
    const client = uuid();
    const lists = Array.from({ length: 20 }, () => clientsOfClinician(uuid()));
    const first = createPlaces(store.keys);
    for (const list of lists.slice(0, 10)) first.record(list, pageWith(client, 1));
    await first[Symbol.asyncDispose]();
    await using second = createPlaces(store.keys);
    for (const list of lists.slice(10)) second.record(list, pageWith(client, 1));
    expect((await second.of(client)).map(({ list }) => list)).toEqual(lists.slice(-16));
  });

  it('are kept when look-ups go through many lists without the client', async () => {
    const [client, clinic] = [uuid(), uuid()];
    const first = createPlaces(store.keys);
    first.record(clientsOfClinic(clinic), pageWith(client, 7));
    await first[Symbol.asyncDispose]();
    await using places = createPlaces(store.keys);
    for (let count = 0; count < 20; count += 1) places.remove(clientsOfClinician(uuid()), client);
    expect(await places.of(client)).toEqual([{ list: clientsOfClinic(clinic), page: 7 }]);
  });
});
