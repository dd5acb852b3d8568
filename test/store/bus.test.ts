import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { names } from '../../src/store/redis/names.ts';
import { openStore } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
import { openRelay } from '../support/faults/relay.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import type { RedisServer } from '../support/redis-server.ts';

const noGap = () => {};

describe.skipIf(!redisAvailable)('the bus between instances', () => {
  let server: RedisServer;
  let stores: Store[] = [];

  async function open(path = '', port = server.port): Promise<Store> {
    const url = `redis://127.0.0.1:${port}${path}`;
    const store = await openStore({ kind: 'redis', url }, { retentionMs: 1_000 });
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

  it('has delivered to every other instance when publishing resolves', async () => {
    const [one, two, three] = [await open(), await open(), await open()];
    const received: string[] = [];
    one.bus.subscribe(() => void received.push('one'), noGap);
    two.bus.subscribe((message) => void received.push(`two ${message}`), noGap);
    three.bus.subscribe(async (message) => {
      await new Promise(setImmediate);
      received.push(`three ${message}`);
    }, noGap);
    await one.bus.publish('note');
    expect(received.toSorted()).toEqual(['three note', 'two note']);
  });

  it('does not wait for long on an instance that never answers', async () => {
    const [one, two] = [await open(), await open()];
    two.bus.subscribe(() => new Promise(() => {}), noGap);
    const begun = performance.now();
    await one.bus.publish('note');
    expect(performance.now() - begun).toBeGreaterThan(450);
  });

  it('does not wait for long on a server that hangs', async () => {
    const { bus } = await open();
    process.kill(server.pid, 'SIGSTOP');
    const begun = performance.now();
    await bus.publish('note');
    expect(performance.now() - begun).toBeLessThan(2_000);
    process.kill(server.pid, 'SIGCONT');
  });

  it('separates the databases of one server', async () => {
    const [one, two] = [await open('/1'), await open('/2')];
    const received: string[] = [];
    two.bus.subscribe((message) => void received.push(message), noGap);
    await one.bus.publish('note');
    expect(received).toEqual([]);
  });

  it('is the same one however the first database is written', async () => {
    const [one, two, three] = [await open(), await open('/'), await open('/0')];
    const received: string[] = [];
    for (const { bus } of [two, three])
      bus.subscribe((message) => void received.push(message), noGap);
    await one.bus.publish('note');
    expect(received).toEqual(['note', 'note']);
  });

  it('continues after a handler that fails', async () => {
    const [one, two] = [await open(), await open()];
    const received: string[] = [];
    two.bus.subscribe((message) => {
      received.push(message);
      if (message === 'first') throw new Error('broken');
    }, noGap);
    await one.bus.publish('first');
    await one.bus.publish('second');
    expect(received).toEqual(['first', 'second']);
  });

  it('ignores a message that no instance sent', async () => {
    const [one, two] = [await open(), await open()];
    const received: string[] = [];
    two.bus.subscribe((message) => void received.push(message), noGap);
    // They would end the process if their failure went unhandled.
    for (const channel of [names.bus('0'), names.appended('0')])
      for (const text of ['{', 'null']) expect(server.cli('PUBLISH', channel, text)).toBe('2');
    await one.bus.publish('next');
    expect(received).toEqual(['next']);
  });

  it('reports a gap when the connection for messages was lost', async () => {
    const { bus } = await open();
    const gap = new Promise<void>((resolve) => bus.subscribe(() => {}, resolve));
    server.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await gap;
  });

  it('reports a gap when that connection is dead and nothing closes it', async () => {
    await using relay = await openRelay(server.port);
    const { bus } = await open('', relay.port);
    const gap = new Promise<void>((resolve) => bus.subscribe(() => {}, resolve));
    relay.drop();
    await gap;
  });

  it('reports a gap to the others when it could not publish', async () => {
    const [one, two] = [await open(), await open()];
    const gap = new Promise<void>((resolve) => two.bus.subscribe(() => {}, resolve));
    server.cli('CLIENT', 'KILL', 'TYPE', 'normal');
    await one.bus.publish('note');
    await gap;
  });
});
