import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PREFIX } from '../../src/store/redis/connection.ts';
import { openRedis } from '../../src/store/redis/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openRelay } from '../support/faults/relay.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import { until } from '../support/ws/raw-socket.ts';

const noGap = () => {};

/** A Redis server of its own, and stores on it. */
async function openBus() {
  const server = await startRedis();
  const stores: Store[] = [];
  return {
    server,
    async open(path = '', port = server.port): Promise<Store> {
      const url = `redis://127.0.0.1:${port}${path}`;
      const store = await openRedis(url, { retentionMs: 1_000 });
      stores.push(store);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
      await server[Symbol.asyncDispose]();
    },
  };
}

describe.skipIf(!redisAvailable)('the bus between instances', () => {
  it('has delivered to every other instance when publishing resolves', async () => {
    await using redis = await openBus();
    const { open } = redis;
    const [one, two, three] = [await open(), await open(), await open()];
    const received: string[] = [];
    one.bus.subscribe(() => void received.push('one'), noGap);
    two.bus.subscribe((message) => void received.push(`two ${message}`), noGap);
    three.bus.subscribe(async (message) => {
      await new Promise(setImmediate);
      received.push(`three ${message}`);
    }, noGap);
    // On a busy machine an acknowledgement may take longer than publishing waits.
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await one.bus.publish('note');
    expect(received.toSorted()).toEqual(['three note', 'two note']);
  });

  it('separates the databases of one server', async () => {
    await using redis = await openBus();
    const { open } = redis;
    const [one, two] = [await open('/1'), await open('/2')];
    const received: string[] = [];
    two.bus.subscribe((message) => void received.push(message), noGap);
    await one.bus.publish('note');
    expect(received).toEqual([]);
  });

  it('is the same one however the first database is written', async () => {
    await using redis = await openBus();
    const { open } = redis;
    const [one, two, three] = [await open(), await open('/'), await open('/0')];
    const received: string[] = [];
    for (const { bus } of [two, three])
      bus.subscribe((message) => void received.push(message), noGap);
    await one.bus.publish('note');
    await until(() => received.length === 2);
    expect(received).toEqual(['note', 'note']);
  });

  it('continues after a handler that fails', async () => {
    await using redis = await openBus();
    const { open } = redis;
    const [one, two] = [await open(), await open()];
    const received: string[] = [];
    two.bus.subscribe((message) => {
      received.push(message);
      if (message === 'first') throw new Error('broken');
    }, noGap);
    await one.bus.publish('first');
    await one.bus.publish('second');
    await until(() => received.length === 2);
    expect(received).toEqual(['first', 'second']);
  });

  it('ignores a message that no instance sent', async () => {
    await using redis = await openBus();
    const { open, server } = redis;
    const [one, two] = [await open(), await open()];
    const received: string[] = [];
    two.bus.subscribe((message) => void received.push(message), noGap);
    // They would end the process if their failure went unhandled.
    for (const channel of [`${PREFIX}bus:0`, `${PREFIX}appended:0`])
      for (const text of ['{', 'null']) expect(server.cli('PUBLISH', channel, text)).toBe('2');
    await one.bus.publish('next');
    await until(() => received.length > 0);
    expect(received).toEqual(['next']);
  });
});

// Each waits, for its own server, so they run in parallel.
describe
  .skipIf(!redisAvailable)
  .concurrent('the bus of an instance or a server that is lost', () => {
    it('does not wait for long on an instance that never answers', async () => {
      await using redis = await openBus();
      const { open } = redis;
      const [one, two] = [await open(), await open()];
      two.bus.subscribe(() => new Promise(() => {}), noGap);
      const begun = performance.now();
      await one.bus.publish('note');
      expect(performance.now() - begun).toBeGreaterThan(450);
    });

    it('is not available while Redis pauses writes, as before a failover', async () => {
      await using redis = await openBus();
      const { open, server } = redis;
      const { bus } = await open();
      await bus.check();
      server.cli('CLIENT', 'PAUSE', '10000', 'WRITE');
      await expect(bus.check()).rejects.toThrow('Redis did not answer');
      server.cli('CLIENT', 'UNPAUSE');
    });

    it('reports a gap when the connection for messages was lost', async () => {
      await using redis = await openBus();
      const { open, server } = redis;
      const { bus } = await open();
      const gap = new Promise<void>((resolve) => bus.subscribe(() => {}, resolve));
      server.cli('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await gap;
    });

    it('reports a gap when that connection is dead and nothing closes it', async () => {
      await using redis = await openBus();
      const { open, server } = redis;
      await using relay = await openRelay(server.port);
      const { bus } = await open('', relay.port);
      const gap = new Promise<void>((resolve) => bus.subscribe(() => {}, resolve));
      relay.drop();
      await gap;
    });

    it('reports a gap to the others when it could not publish', async () => {
      await using redis = await openBus();
      const { open, server } = redis;
      await using relay = await openRelay(server.port);
      const [one, two] = [await open('', relay.port), await open()];
      const gap = new Promise<void>((resolve) => two.bus.subscribe(() => {}, resolve));
      relay.cut();
      const begun = performance.now();
      await one.bus.publish('note');
      // The others have time to notice.
      expect(performance.now() - begun).toBeGreaterThan(450);
      await gap;
    });
  });

it.skipIf(!redisAvailable)('does not wait for long on a server that hangs', async () => {
  await using redis = await openBus();
  const { open, server } = redis;
  const { bus } = await open();
  process.kill(server.pid, 'SIGSTOP');
  const ended: string[] = [];
  const published = bus.publish('note').then(() => ended.push('publishing'));
  await expect(bus.check().finally(() => ended.push('a command'))).rejects.toThrow();
  await published;
  expect(ended).toEqual(['publishing', 'a command']);
  process.kill(server.pid, 'SIGCONT');
});
