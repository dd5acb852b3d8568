import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import type { RedisServer } from '../support/redis-server.ts';

describe.skipIf(!redisAvailable)('the bus between instances', () => {
  let server: RedisServer;
  let stores: Store[] = [];

  async function open(path = ''): Promise<Store> {
    const store = await openStore(
      { kind: 'redis', url: server.url + path },
      { retentionMs: 1_000 },
    );
    stores.push(store);
    return store;
  }

  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    stores = [];
    await server[Symbol.asyncDispose]();
  });

  it('has been heard by every other instance when publishing is over', async () => {
    const [one, two, three] = [await open(), await open(), await open()];
    const heard: string[] = [];
    one.bus.subscribe('stale', () => void heard.push('one'));
    two.bus.subscribe('stale', (message) => void heard.push(`two ${message}`));
    three.bus.subscribe('stale', async (message) => {
      await new Promise(setImmediate);
      heard.push(`three ${message}`);
    });
    await one.bus.publish('stale', 'note');
    expect(heard.toSorted()).toEqual(['three note', 'two note']);
  });

  it('does not wait for long on an instance that never answers', async () => {
    const [one, two] = [await open(), await open()];
    two.bus.subscribe('stale', () => new Promise(() => {}));
    const begun = performance.now();
    await one.bus.publish('stale', 'note');
    expect(performance.now() - begun).toBeGreaterThan(450);
  });

  it('calls nobody of another topic', async () => {
    const [one, two] = [await open(), await open()];
    const heard: string[] = [];
    two.bus.subscribe('other', () => void heard.push('other'));
    await one.bus.publish('stale', 'note');
    expect(heard).toEqual([]);
  });

  it('keeps databases of one server apart', async () => {
    const [one, two] = [await open('/1'), await open('/2')];
    const heard: string[] = [];
    two.bus.subscribe('stale', (message) => void heard.push(message));
    await one.bus.publish('stale', 'note');
    expect(heard).toEqual([]);
  });

  it('goes on past a handler that fails', async () => {
    const [one, two] = [await open(), await open()];
    const heard: string[] = [];
    two.bus.subscribe('stale', (message) => {
      heard.push(message);
      if (message === 'first') throw new Error('broken');
    });
    await one.bus.publish('stale', 'first');
    await one.bus.publish('stale', 'second');
    expect(heard).toEqual(['first', 'second']);
  });

  it('tells of a gap when the connection for messages was lost', async () => {
    const { bus } = await open();
    const gap = new Promise<void>((resolve) => bus.onGap(resolve));
    server.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await gap;
  });

  it('tells the others of a gap when it could not publish', async () => {
    const [one, two] = [await open(), await open()];
    const gap = new Promise<void>((resolve) => two.bus.onGap(resolve));
    server.cli('CLIENT', 'KILL', 'TYPE', 'normal');
    await one.bus.publish('stale', 'note');
    await gap;
  });
});
