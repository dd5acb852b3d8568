import { inspect } from '../../src/store/redis/server.ts';
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { StoreUnavailable } from '../../src/errors.ts';
import { createRedisLog } from '../../src/store/redis/event-log.ts';
import { PREFIX, createConnection } from '../../src/store/redis/connection.ts';
import { createRunOnce } from '../../src/store/idempotency.ts';
import { openRedis } from '../../src/store/redis/open.ts';
import { openRelay } from '../support/faults/relay.ts';
import { redisAvailable, startRedis } from '../support/redis-server.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { DAY_MS, epochOf, eventOf, follow, range } from '../support/store/engines.ts';

/** Of waiting for what comes within two seconds where nothing else runs: a busy machine may take ten times as long. */
const PATIENCE_MS = 50_000;

/** A command as Redis writes it to its append-only file. */
const command = (...words: string[]) =>
  [`*${words.length}`, ...words.flatMap((word) => [`$${word.length}`, word]), ''].join('\r\n');

describe.skipIf(!redisAvailable)('a store on Redis', () => {
  const disposables: AsyncDisposable[] = [];
  const problems: string[] = [];

  async function start(...options: string[]): Promise<RedisServer> {
    const server = await startRedis(...options);
    disposables.unshift(server);
    return server;
  }

  async function open(url: string, retentionMs = DAY_MS) {
    const settings = { retentionMs, onProblem: problems.push.bind(problems) };
    const store = await openRedis(url, settings);
    disposables.unshift(store);
    return store;
  }

  afterEach(async () => {
    for (const disposable of disposables.splice(0)) await disposable[Symbol.asyncDispose]();
    problems.length = 0;
  });

  it('rejects a server that evicts, and says why', async () => {
    const server = await start('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    await expect(open(server.url)).rejects.toThrow(
      'Redis must have maxmemory-policy noeviction, but it is allkeys-lru: events would be evicted',
    );
  });

  it('reports once that a server was set to evict while it was in use, and rejects writes meanwhile', async () => {
    const server = await start();
    const connection = createConnection(server.url, problems.push.bind(problems));
    await connection.open();
    server.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    for (let inspection = 0; inspection < 2; inspection += 1) await connection.inspectServer();
    expect(problems).toEqual([expect.stringContaining('but it is allkeys-lru')]);
    const write = () => connection.runDurably((redis) => redis.set('any', ''));
    await expect(write()).rejects.toThrow('but it is allkeys-lru');
    expect(await connection.run((redis) => redis.get('any'))).toBeNull();
    server.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await vi.waitFor(write, PATIENCE_MS);
    await connection.close();
  });

  it('warns of a server without persistence', async () => {
    const server = await start('--appendonly', 'no');
    await open(server.url);
    expect(problems).toEqual([expect.stringContaining('if it crashes, events are lost')]);
  });

  it('keeps a key for a week, however short the retention of events', async () => {
    const server = await start();
    const { log } = await open(server.url, 1_000);
    await log.append([eventOf('a')]);
    const ttl = Number(server.cli('PTTL', '{partner-graph}:seen:a'));
    expect(ttl / DAY_MS).toBeCloseTo(7, 1);
  });

  it('keeps the newest thousand events of a session, and no longer than the events themselves', async () => {
    const server = await start();
    const { log } = await open(server.url);
    await log.append(range(1, 1_001).map((n) => eventOf(`e${n}`, { subject: 'session:1' })));
    const key = `${PREFIX}subject:session:1`;
    expect(server.cli('LLEN', key)).toBe('1000');
    expect(Number(server.cli('PTTL', key))).toBeGreaterThan(DAY_MS);
  });

  it('continues after Redis was killed and restarted, with nothing lost or repeated', async () => {
    const server = await start();
    const store = await open(server.url);
    const { log } = store;
    const seen: number[] = [];
    const epoch = await epochOf(log);
    const following = (async () => {
      for await (const batch of follow(log, 0, epoch)) {
        seen.push(...batch.map(({ position }) => position));
        if (seen.includes(40)) return;
      }
    })();
    await log.append(range(1, 20).map((n) => eventOf(`before-${n}`)));
    await server.kill();
    await expect(log.append([eventOf('down')])).rejects.toThrow(StoreUnavailable);
    await expect(store.check()).rejects.toThrow(StoreUnavailable);
    await server.start();
    await vi.waitFor(() => store.check(), PATIENCE_MS);
    await log.append(range(1, 20).map((n) => eventOf(`after-${n}`)));
    await following;
    expect(seen).toEqual(range(1, 40));
  });

  it.each([
    ['', 0],
    [', even if it takes long to load its data', 3_000],
  ])(
    'loses nothing to a transaction that a crash of Redis left half written%s',
    async (_, keys) => {
      // Loading a key takes 0.2 ms.
      const server = await start('--key-load-delay', '200');
      const store = await open(server.url);
      server.cli('EVAL', `for i = 1, ${keys} do redis.call('SET', 'key' .. i, i) end`, '0');
      await store.log.append([eventOf('a'), eventOf('b')]);
      await server.kill();
      const dead = command('XADD', `${PREFIX}events`, '3-0', 'r', '1', 'b', '{"key":"dead"}');
      const file = join(server.dir, 'appendonlydir', 'appendonly.aof.1.incr.aof');
      appendFileSync(file, `${command('MULTI')}${dead}${dead.slice(0, 40)}`);
      await server.start();
      await vi.waitFor(() => store.log.append([eventOf('c')]), PATIENCE_MS);
      await server.kill();
      await server.start();
      // Writes and reads have a connection each, and each reconnects by itself.
      const kept = await vi.waitFor(() => store.log.read(0, 10), PATIENCE_MS);
      const bodies = kept.events.map(({ body }) => body);
      expect(bodies).toEqual(['{"key":"a"}', '{"key":"b"}', '{"key":"c"}']);
      expect(problems.filter((problem) => !problem.includes('out of reach'))).toEqual([]);
    },
  );

  it('detects that the log was flushed', async () => {
    const server = await start();
    const { log } = await open(server.url);
    await log.append([eventOf('a'), eventOf('b')]);
    const epoch = await epochOf(log);
    const follower = follow(log, 2, epoch);
    const lost = expect(follower.next()).rejects.toThrow('replaced');
    server.cli('FLUSHALL');
    await lost;
    expect(await epochOf(log)).not.toBe(epoch);
    expect(await log.append([eventOf('a')])).toEqual([1]);
    expect(await log.bounds()).toMatchObject({ oldest: 0, newest: 1 });
  });

  it('continues after the last event if Redis has lost only the position of it', async () => {
    const server = await start();
    const { log } = await open(server.url);
    await log.append([eventOf('a'), eventOf('b')]);
    const epoch = await epochOf(log);
    server.cli('DEL', `${PREFIX}newest`);
    expect(await log.append([eventOf('c')])).toEqual([3]);
    expect(await epochOf(log)).toBe(epoch);
  });

  it('keeps its epoch when a message announces events that this server does not have', async () => {
    const server = await start();
    const { log } = await open(server.url);
    await log.append([eventOf('a')]);
    const epoch = await epochOf(log);
    for (const message of ['900', JSON.stringify([epoch, 900, ''])]) {
      const woken = log.changed(1);
      server.cli('PUBLISH', `${PREFIX}appended:0`, message);
      await woken;
      expect(await log.read(1, 10)).toMatchObject({ epoch, newest: 1, events: [] });
    }
    expect(await log.append([eventOf('b')])).toEqual([2]);
  });

  it('sends any number of replies to its readers, whatever Redis allows a subscriber', async () => {
    const server = await start();
    const { log } = await open(server.url);
    server.cli('CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 1mb 0 0');
    const long = { ...eventOf('long'), body: JSON.stringify('x'.repeat(20_000)) };
    await log.append(range(1, 100).map((n) => ({ ...long, key: `${n}` })));
    // Two replies of 2 MB: they must come within three seconds, on a busy machine too.
    const pages = await Promise.all(range(1, 2).map(() => log.read(0, 100)));
    expect(pages.map(({ events }) => events.length)).toEqual([100, 100]);
  });

  it('detects that an older copy of the log took over, and agrees on the new epoch', async () => {
    const server = await start();
    const [one, two] = [await open(server.url), await open(server.url)];
    await one.log.append(range(1, 5).map((n) => eventOf(`${n}`)));
    const { epoch, newest } = await two.log.bounds();
    server.cli('XTRIM', `${PREFIX}events`, 'MAXLEN', '0');
    server.cli('XSETID', `${PREFIX}events`, '3-0');
    server.cli('SET', `${PREFIX}newest`, '3');
    expect(newest).toBe(5);
    expect(await one.log.append([eventOf('new')])).toEqual([4]);
    const present = await epochOf(one.log);
    expect(present).not.toBe(epoch);
    expect(await epochOf(two.log)).toBe(present);
  });

  it('detects this although others have appended to the older copy since', async () => {
    const server = await start();
    const { log } = await open(server.url);
    await log.append(range(1, 5).map((n) => eventOf(`${n}`)));
    const { epoch } = await log.bounds();
    const lost = expect(follow(log, 5, epoch).next()).rejects.toThrow('replaced');
    // In one step, as it appears to the last instance that reconnects.
    const takeOver = `
      redis.call('XDEL', KEYS[1], '4-0', '5-0')
      redis.call('XSETID', KEYS[1], '3-0')
      for n = 4, 6 do redis.call('XADD', KEYS[1], n .. '-0', 'r', '1', 'b', '{}') end
      redis.call('SET', KEYS[2], 6)`;
    server.cli('EVAL', takeOver, '2', `${PREFIX}events`, `${PREFIX}newest`);
    await lost;
    expect(await log.bounds()).toMatchObject({ newest: 6 });
    expect(await epochOf(log)).not.toBe(epoch);
  });

  it('starts a new epoch on a copy from before the last failover, and continues following', async () => {
    const server = await start();
    const { log } = await open(server.url);
    const epoch = await epochOf(log);
    await log.append([eventOf('a')]);
    server.cli('SET', `${PREFIX}epoch`, crypto.randomUUID());
    const second = await epochOf(log);
    expect(second).not.toBe(epoch);
    server.cli('SET', `${PREFIX}epoch`, epoch);
    const third = await epochOf(log);
    expect([epoch, second]).not.toContain(third);
    const next = follow(log, 1, third).next();
    await log.append([eventOf('b')]);
    expect(await next).toMatchObject({ value: [{ position: 2 }] });
  });

  /** A log with a read that the server has answered with one event, and whose reply comes when `release` is called. */
  async function openLateLog() {
    const server = await start();
    const connection = createConnection(server.url, problems.push.bind(problems));
    const [answered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const run: typeof connection.run = async (toRun) => {
      const reply = await connection.run(toRun);
      answered.resolve();
      await released.promise;
      return reply;
    };
    const log = createRedisLog({ ...connection, run }, 1e9);
    await connection.open();
    disposables.unshift({ [Symbol.asyncDispose]: connection.close });
    await log.append([eventOf('a')]);
    const late = log.read(0, 10);
    await answered.promise;
    return { server, log, late, release: released.resolve };
  }

  it('keeps the epoch of a new log when a reply about the former one comes late', async () => {
    const { server, log, late, release } = await openLateLog();
    server.cli('FLUSHALL');
    await log.append([eventOf('b')]);
    const epoch = server.cli('GET', `${PREFIX}epoch`);
    release();
    expect((await late).epoch).not.toBe(epoch);
    expect(await epochOf(log)).toBe(epoch);
  });

  it('detects an older copy of the log although a reply from before the loss comes late', async () => {
    const { server, log, late, release } = await openLateLog();
    await log.append([eventOf('b')]);
    release();
    const { epoch } = await late;
    server.cli('XDEL', `${PREFIX}events`, '2-0');
    server.cli('XSETID', `${PREFIX}events`, '1-0');
    server.cli('SET', `${PREFIX}newest`, '1');
    expect(await epochOf(log)).not.toBe(epoch);
  });

  it('writes to the server that it reads from, while a name moves to another', async () => {
    const [one, two] = [await start(), await start()];
    const ports = [one.port, two.port];
    const relay = createServer((socket) => {
      const target = connect(ports.shift() ?? one.port, '127.0.0.1');
      socket.on('error', () => target.destroy()).pipe(target);
      target.on('error', () => socket.destroy()).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    disposables.unshift({ [Symbol.asyncDispose]: async () => void relay.close() });
    const { port } = relay.address() as AddressInfo;
    const { log } = await open(`redis://127.0.0.1:${port}`);
    await log.append([eventOf('a')]);
    expect((await log.read(0, 10)).events).toHaveLength(1);
  });

  /** A connection that leaves `former` for `next` while `former` can still be read, and a read that it has not answered. */
  async function moveConnection(former: RedisServer, next: RedisServer) {
    const name = await openRelay(former.port);
    disposables.unshift(name);
    const connection = createConnection(`redis://127.0.0.1:${name.port}`, () => {});
    const onGap = vi.fn();
    connection.onGap(onGap);
    await connection.open();
    disposables.unshift({ [Symbol.asyncDispose]: connection.close });
    former.cli('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await connection.inspectServer();
    former.cli('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    const read = connection.run((redis) => redis.blPop('list', 0));
    name.redirectTo(next.port);
    const moved = vi.waitFor(
      () => connection.runDurably((redis) => redis.set('any', '')),
      PATIENCE_MS,
    );
    return { read, onGap, moved };
  }

  it('gets its replies, and reports no gap, when it connects to the same server again', async () => {
    const server = await start();
    const { read, onGap, moved } = await moveConnection(server, server);
    await moved;
    server.cli('RPUSH', `${PREFIX}list`, 'a');
    expect(await read).toMatchObject({ element: 'a' });
    expect(onGap).not.toHaveBeenCalled();
  });

  it('gets no late replies, and reports a gap, when it connects to another server', async () => {
    const [former, next] = [await start(), await start()];
    const { read, onGap, moved } = await moveConnection(former, next);
    const late = expect(read).rejects.toThrow('Redis is out of reach');
    await moved;
    former.cli('RPUSH', `${PREFIX}list`, 'a');
    await late;
    expect(onGap).toHaveBeenCalledOnce();
  });

  it('connects again if it is lost at once', async () => {
    const server = await start('--appendonly', 'no');
    const connection = createConnection(server.url, () => {});
    const again = Promise.withResolvers<void>();
    let gaps = 0;
    connection.onGap(() => {
      gaps += 1;
      if (gaps > 1) return again.resolve();
      const lost = connection.run(() => {
        throw new StoreUnavailable('Redis did not answer');
      });
      lost.catch(() => {});
    });
    await connection.open();
    disposables.unshift({ [Symbol.asyncDispose]: connection.close });
    server.cli('CLIENT', 'KILL', 'TYPE', 'normal');
    await again.promise;
  });

  it('leaves no connection behind if it is closed while it reconnects', async () => {
    const server = await start('--appendonly', 'no');
    const closed = Promise.withResolvers<void>();
    let isOpen = false;
    // The warning of a server without persistence comes once it is inspected.
    const connection = createConnection(server.url, (problem) => {
      if (isOpen && problem.includes('append-only')) closed.resolve(connection.close());
    });
    await connection.open();
    isOpen = true;
    server.cli('CLIENT', 'KILL', 'TYPE', 'normal');
    await closed.promise;
    const others = () => server.cli('CLIENT', 'LIST').split('\n').length - 1;
    await vi.waitFor(() => expect(others()).toBe(0), PATIENCE_MS);
  });

  async function startReplicated() {
    const primary = await start('--repl-diskless-sync-delay', '0');
    const replica = await start('--replicaof', `127.0.0.1 ${primary.port}`);
    await vi.waitFor(() => {
      expect(primary.cli('INFO', 'replication')).toContain('state=online');
    }, PATIENCE_MS);
    return { primary, replica };
  }

  it('acknowledges only what a replica has, once there is one', async () => {
    const { primary, replica } = await startReplicated();
    const { log, keys } = await open(primary.url);
    await log.append([eventOf('a')]);
    expect(replica.cli('XLEN', `${PREFIX}events`)).toBe('1');
    await replica.kill();
    // A hint may be lost.
    await keys.put({ hint: 'a' }, 60_000, 'hint');
    await expect(log.append([eventOf('b')])).rejects.toThrow(/replica/);
    // Reads continue while it connects again.
    expect((await log.read(0, 10)).events).toHaveLength(2);
    // It may be stored; it is not acknowledged yet, neither the first time nor as a duplicate.
    await expect(log.append([eventOf('b')])).rejects.toThrow(/replica/);
    await replica.start();
    await vi.waitFor(() => log.append([eventOf('b')]), PATIENCE_MS);
    expect(replica.cli('XLEN', `${PREFIX}events`)).toBe('2');
  });

  it('acknowledges no copy to another instance before a replica has the event', async () => {
    const { primary, replica } = await startReplicated();
    const [first, second] = [await open(primary.url), await open(primary.url)];
    await second.log.append([eventOf('a')]);
    process.kill(replica.pid, 'SIGSTOP');
    await expect(first.log.append([eventOf('b')])).rejects.toThrow(/replica/);
    await expect(second.log.append([eventOf('b')])).rejects.toThrow(/replica/);
    process.kill(replica.pid, 'SIGCONT');
    await vi.waitFor(() => second.log.append([eventOf('b')]), PATIENCE_MS);
    expect(replica.cli('XLEN', `${PREFIX}events`)).toBe('2');
  });

  it('acknowledges nothing on a primary whose other replica may have been promoted', async () => {
    const primary = await start('--repl-diskless-sync-delay', '0');
    const promoted = await start('--replicaof', `127.0.0.1 ${primary.port}`);
    await start('--replicaof', `127.0.0.1 ${primary.port}`);
    await vi.waitFor(() => {
      // Only a write that comes after the replicas moves their offsets from zero.
      primary.cli('SET', 'any', '1');
      const online = primary.cli('INFO', 'replication').matchAll(/state=online,offset=[1-9]/g);
      expect([...online]).toHaveLength(2);
    }, PATIENCE_MS);
    const { log } = await open(primary.url);
    await log.append([eventOf('a')]);
    promoted.cli('REPLICAOF', 'NO', 'ONE');
    await expect(log.append([eventOf('b')])).rejects.toThrow('1 of 2 Redis replicas confirmed');
    // After a while it counts as removed.
    const now = performance.now.bind(performance);
    using clock = vi.spyOn(performance, 'now');
    clock.mockImplementation(() => now() + 15_000);
    await vi.waitFor(() => log.append([eventOf('b')]), PATIENCE_MS);
  });

  it('does not count a replica that loads its data or hangs, unless it is the only one', async () => {
    const line = (n: number, offset: number, lag: number) =>
      `slave${n}:ip=127.0.0.1,port=1,state=online,offset=${offset},lag=${lag}\r\n`;
    const count = async (...lines: readonly string[]) =>
      (await inspect({ info: async () => lines.join('') } as never)).replicas;
    expect(await count()).toBe(0);
    expect(await count(line(0, 9, 0), line(1, 9, 1))).toBe(2);
    expect(await count(line(0, 9, 60), line(1, 9, 1), line(2, 0, 0))).toBe(1);
    expect(await count(line(0, 9, 60))).toBe(1);
  });

  it('waits for no backup, which is a replica that never comes online', async () => {
    const server = await start('--repl-diskless-sync-delay', '60');
    const to = join(server.dir, 'backup.rdb');
    const backup = spawn('redis-cli', ['-p', `${server.port}`, '--rdb', to], { stdio: 'ignore' });
    await expect.poll(() => server.cli('INFO', 'replication')).toContain('state=wait_bgsave');
    const { log } = await open(server.url);
    expect(await log.append([eventOf('a')])).toEqual([1]);
    backup.kill();
  });

  it('reports the cause while Redis is full, and still reads', async () => {
    const server = await start();
    const store = await open(server.url);
    const { log } = store;
    await log.append([eventOf('a')]);
    server.cli('CONFIG', 'SET', 'maxmemory', '1');
    await expect(log.append([eventOf('b')])).rejects.toThrow(
      'out of memory: raise maxmemory (OOM)',
    );
    await expect(store.check()).rejects.toThrow('OOM');
    expect((await log.read(0, 10)).events).toHaveLength(1);
    server.cli('CONFIG', 'SET', 'maxmemory', '0');
    expect(await log.append([eventOf('b')])).toEqual([2]);
  });

  it('is not ready while the log can’t be read', async () => {
    const server = await start();
    const store = await open(server.url);
    await store.log.append([eventOf('a')]);
    server.cli('RENAME', `${PREFIX}events`, 'elsewhere');
    server.cli('SET', `${PREFIX}events`, '');
    await expect(store.check()).rejects.toThrow('WRONGTYPE');
    server.cli('RENAME', 'elsewhere', `${PREFIX}events`);
    await store.check();
  });

  it('deletes no claim that was never sent', async () => {
    const server = await start();
    const { keys, check } = await open(server.url);
    const deleted = vi.spyOn(keys, 'delete');
    await server.kill();
    await vi.waitFor(() => expect(check()).rejects.toThrow('Redis is out of reach'), PATIENCE_MS);
    const runOnce = createRunOnce(keys);
    await expect(runOnce('k', 'p', async () => 'done')).rejects.toThrow(StoreUnavailable);
    await server.start();
    await vi.waitFor(check, PATIENCE_MS);
    await runOnce[Symbol.asyncDispose]();
    expect(deleted).not.toHaveBeenCalled();
  });

  it('reads and trims after a restart of a full Redis, and writes once there is space', async () => {
    const server = await start();
    await using relay = await openRelay(server.port);
    const former = await open(`redis://127.0.0.1:${relay.port}`, 1_000);
    await former.log.append([eventOf('a', { receivedAt: Date.now() - DAY_MS })]);
    relay.stall();
    await server.kill();
    await server.start();
    server.cli('CONFIG', 'SET', 'maxmemory', '1');
    relay.flow();
    for (const { log, check } of [former, await open(server.url, 1_000)]) {
      await vi.waitFor(async () => expect((await log.bounds()).newest).toBe(1), PATIENCE_MS);
      // Writes have a connection of their own.
      await vi.waitFor(() => expect(check()).rejects.toThrow('OOM'), PATIENCE_MS);
    }
    await former.log.trim();
    expect(await former.log.bounds()).toMatchObject({ oldest: 1, newest: 1 });
    server.cli('CONFIG', 'SET', 'maxmemory', '0');
    await vi.waitFor(() => former.log.append([eventOf('b')]), PATIENCE_MS);
    expect(server.cli('GET', `${PREFIX}repaired`)).toMatch(/^[0-9a-f]{40}$/);
  });

  it('reconnects after a demotion', async () => {
    const server = await start();
    const store = await open(server.url);
    const { log } = store;
    server.cli('REPLICAOF', '127.0.0.1', '1');
    await expect(log.append([eventOf('a')])).rejects.toThrow('read-only replica (READONLY)');
    server.cli('REPLICAOF', 'NO', 'ONE');
    await vi.waitFor(() => store.check(), PATIENCE_MS);
    expect(await log.append([eventOf('a')])).toEqual([1]);
  });

  it.each(['yes', 'no'])(
    'disconnects from a demoted server, whether it serves stale data or not: %s',
    async (stale) => {
      const server = await start('--replica-serve-stale-data', stale);
      const other = await start();
      await using name = await openRelay(server.port);
      const { log } = await open(`redis://127.0.0.1:${name.port}`);
      await log.append([eventOf('a')]);
      server.cli('REPLICAOF', '127.0.0.1', '1');
      name.redirectTo(other.port);
      await vi.waitFor(() => log.append([eventOf('b')]), PATIENCE_MS);
      expect(other.cli('XLEN', `${PREFIX}events`)).toBe('1');
      await vi.waitFor(
        async () => expect((await log.read(0, 10)).events).toHaveLength(1),
        PATIENCE_MS,
      );
    },
  );
});

// These wait, each for its own servers, so they run in parallel.
describe.skipIf(!redisAvailable).concurrent('a store on a Redis that refuses or moves', () => {
  const open = (url: string) => openRedis(url, { retentionMs: DAY_MS });

  it('rejects a replica, and an address without a server', async () => {
    await using server = await startRedis('--replicaof', '127.0.0.1 1');
    await expect(open(server.url)).rejects.toThrow('read-only replica');
    await server.kill();
    await expect(open(server.url)).rejects.toThrow('cannot be reached: ECONNREFUSED');
  });

  it('says that a server, which may be no Redis, closed the connection', async () => {
    await using server = createServer((socket) => void socket.destroy()).listen(0);
    const { port } = server.address() as AddressInfo;
    await expect(open(`redis://127.0.0.1:${port}`)).rejects.toThrow('it closed the connection (');
  });

  it('says why a server refuses it, and never the password', async () => {
    await using server = await startRedis('--requirepass', 'correct');
    const openWith = (user: string, path = '') =>
      expect(open(`redis://${user}127.0.0.1:${server.port}${path}`)).rejects;
    await Promise.all([
      openWith(':horse@').toThrow(
        /^Redis, as REDIS_URL names it, cannot be reached: it refuses the user name or password \(WRONGPASS\)$/,
      ),
      openWith('', '/1').toThrow(
        /^Redis, as REDIS_URL names it, cannot be reached: it wants a password \(NOAUTH\)$/,
      ),
      openWith(':correct@', '/99').toThrow(
        /^Redis, as REDIS_URL names it, cannot be reached: it does not have the database that is named \(ERR DB index\)$/,
      ),
    ]);
  });

  it('reads from the promoted replica, even if it writes nothing', async () => {
    await using primary = await startRedis('--repl-diskless-sync-delay', '0');
    await using replica = await startRedis('--replicaof', `127.0.0.1 ${primary.port}`);
    await vi.waitFor(() => {
      expect(primary.cli('INFO', 'replication')).toContain('state=online');
    }, PATIENCE_MS);
    await using name = await openRelay(primary.port);
    await using follower = await open(`redis://127.0.0.1:${name.port}`);
    replica.cli('REPLICAOF', 'NO', 'ONE');
    name.redirectTo(replica.port);
    await using writer = await open(replica.url);
    await writer.log.append([eventOf('a')]);
    const read = async () => (await follower.log.read(0, 10)).events;
    await vi.waitFor(async () => expect(await read()).toHaveLength(1), PATIENCE_MS);
  });
});
