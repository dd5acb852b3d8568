import fs, {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { StoreUnavailable } from '../../src/errors.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { openEmbedded } from '../../src/store/sqlite/open.ts';
import { DAY_MS, eventOf, range } from '../support/store/engines.ts';

const open = (dir: string) => openEmbedded(dir, { retentionMs: DAY_MS });

describe('the embedded store', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'store-'));
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  it('never skips events unnoticed while it is trimmed', async () => {
    const settings = { retentionMs: DAY_MS, clock: () => 2 * DAY_MS };
    await using first = await openEmbedded(dir, settings);
    for (const receivedAt of [0, 2 * DAY_MS])
      await first.log.append(
        range(1, 3_000).map((n) => eventOf(`${receivedAt} ${n}`, { receivedAt })),
      );
    await first[Symbol.asyncDispose]();
    // A new process has no events in memory.
    await using store = await openEmbedded(dir, settings);
    const trimming = store.log.trim();
    const { oldest, events } = await store.log.read(100, 5);
    await trimming;
    expect(events[0]!.position).toBe(Math.max(oldest, 100) + 1);
  });

  it('keeps only the newest events in memory', async () => {
    await using store = await open(dir);
    const { log } = store;
    const read = async (after: number) => (await log.read(after, 1)).events[0];
    for (const batch of range(1, 3)) {
      await log.append(range(1, 1_000).map((n) => eventOf(`${batch} ${n}`)));
      expect(await read(batch * 1_000 - 1)).toBe(await read(batch * 1_000 - 1));
    }
    expect(await read(0)).toEqual(await read(0));
    expect(await read(0)).not.toBe(await read(0));
  });

  it('is for one process at a time, and the error says what to do', async () => {
    await using store = await open(dir);
    await expect(open(dir)).rejects.toThrow(
      `${dir} is in use by another process: stop that process, set EVENT_STORE_DIR to another directory`,
    );
    await store.check();
  });

  it('works under node --watch, where threads post the names of their files', async () => {
    // Set by `--watch` for its process.
    vi.stubEnv('WATCH_REPORT_DEPENDENCIES', '1');
    onTestFinished(() => void vi.unstubAllEnvs());
    await using store = await open(dir);
    expect(await store.log.append([eventOf('a')])).toEqual([1]);
    expect(await store.log.read(0, 5)).toMatchObject({ oldest: 0, newest: 1 });
  });

  it('creates its directory, for this user only', async () => {
    await using store = await open(join(dir, 'new', 'one'));
    await store.check();
    expect(statSync(join(dir, 'new', 'one')).mode & 0o777).toBe(0o700);
  });

  it('keeps its files private in a folder that others can read', async () => {
    chmodSync(dir, 0o755);
    writeFileSync(join(dir, 'events.db'), '', { mode: 0o644 });
    await using store = await open(dir);
    await store.log.append([eventOf('a')]);
    const files = readdirSync(dir);
    expect(files).toContain('events.db-wal');
    for (const file of files) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
  });

  it('creates its file with a mode that others can’t read, and not only changes it afterwards', () => {
    vi.spyOn(fs, 'chmodSync').mockReturnValue();
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    openDatabase(dir).close();
    expect(statSync(join(dir, 'events.db')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['/proc/new/store', "can't be created there"],
    ['file', 'is a file or a broken link, or lies below one, and must be a directory: remove it'],
    ['file/below', 'is a file or a broken link, or lies below one'],
    ['link', 'is a file or a broken link, or lies below one'],
  ])('says why its directory can’t be created: %s', async (path, reason) => {
    writeFileSync(join(dir, 'file'), '');
    symlinkSync(join(dir, 'nowhere'), join(dir, 'link'));
    const at = resolve(dir, path);
    await expect(open(at)).rejects.toThrow(`${at} ${reason}`);
    await expect(open(at)).rejects.toThrow('set EVENT_STORE_DIR to another directory');
  });

  it('rejects a store of the previous format with a clear error', async () => {
    const db = new DatabaseSync(join(dir, 'events.db'));
    db.exec('CREATE TABLE event (position INTEGER); PRAGMA user_version = 2');
    db.close();
    await expect(open(dir)).rejects.toThrow(/has format 2, but this version reads 3 only/);
  });

  it('is not ready once its file was deleted', async () => {
    await using store = await open(dir);
    await store.check();
    rmSync(dir, { recursive: true });
    await expect(store.check()).rejects.toThrow('was deleted: restart the gateway');
  });

  it('rejects a file that is not a database, in one line', async () => {
    writeFileSync(join(dir, 'events.db'), 'x'.repeat(5_000));
    await expect(open(dir)).rejects.toThrow(
      /cannot be opened as event store: file is not a database/,
    );
  });

  it('finishes pending writes before it closes, and then rejects new ones', async () => {
    const store = await open(dir);
    const appended = Promise.all(range(1, 50).map((n) => store.log.append([eventOf(`${n}`)])));
    await store[Symbol.asyncDispose]();
    expect((await appended).flat()).toHaveLength(50);
    await expect(store.log.append([eventOf('late')])).rejects.toThrow(StoreUnavailable);
  });

  it('rejects a read that comes while it closes', async () => {
    const store = await open(dir);
    const appended = store.log.append([eventOf('a')]);
    const closed = store[Symbol.asyncDispose]();
    await expect(store.keys.get(['a'])).rejects.toThrow(StoreUnavailable);
    await Promise.all([appended, closed]);
  });

  it.each([
    ['ends', 'the event store is closed', (thread: Worker) => void thread.terminate()],
    // It expects an object.
    [
      'fails',
      "the event store's thread failed: TypeError",
      (thread: Worker) => thread.postMessage(null, []),
    ],
  ])(
    'rejects the calls that its thread has not answered when that %s, and reports it once',
    async (_, reason, end) => {
      const problems: string[] = [];
      const settings = {
        retentionMs: DAY_MS,
        onProblem: (text: string) => void problems.push(text),
      };
      const store = await openEmbedded(dir, settings);
      const posting = vi.spyOn(Worker.prototype, 'postMessage');
      onTestFinished(() => void vi.restoreAllMocks());
      posting.mockImplementationOnce(function instead(this: Worker) {
        end(this);
      });
      await expect(store.check()).rejects.toThrow(reason);
      await expect(store.check()).rejects.toThrow(StoreUnavailable);
      await store[Symbol.asyncDispose]();
      expect(problems).toEqual([reason]);
    },
  );

  it('keeps the keys and subjects of thousands of events after a restart', async () => {
    const events = range(1, 9_000).map((n) => eventOf(`${n}`, { subject: `session:${n % 3_000}` }));
    {
      await using store = await open(dir);
      for (const part of range(0, 8))
        await store.log.append(events.slice(part * 1_000, part * 1_000 + 1_000));
    }
    await using store = await open(dir);
    expect(await store.log.append(events)).toEqual(events.map(() => 0));
    const found = await store.log.ofSubject('session:7', 1_000);
    expect(found.map(({ position }) => position)).toEqual([7, 3_007, 6_007]);
    expect((await store.log.ofSubject('session:2999', 1_000)).at(-1)?.position).toBe(8_999);
  });

  it('removes keys past the window, a batch at a time', async () => {
    let now = Date.now();
    const keys = range(1, 2_500).map((n) => eventOf(`${n}`, { receivedAt: now }));
    {
      await using store = await openEmbedded(dir, { retentionMs: DAY_MS, clock: () => now });
      await store.log.append(keys);
      now += 8 * DAY_MS;
      await store.log.append([eventOf('late', { receivedAt: now })]);
      await store.log.trim();
    }
    using db = new DatabaseSync(join(dir, 'events.db'));
    expect(db.prepare('SELECT key FROM seen').all()).toEqual([{ key: 'late' }]);
  });

  it('stores the other events of a batch when one is invalid', async () => {
    await using store = await open(dir);
    const bad = eventOf('bad', { receivedAt: Number.NaN });
    const outcomes = await Promise.allSettled(
      [eventOf('a'), bad, eventOf('b')].map((event) => store.log.append([event])),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await store.log.read(0, 10)).events).toHaveLength(2);
  });
});
