import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { afterAll, describe, expect, it } from 'vitest';

import { openAuditSpool } from '../../src/observability/audit-spool.ts';
import { createPipedLines } from '../../src/observability/piped-lines.ts';
import { until } from '../support/ws/raw-socket.ts';

const dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const newPath = (): string => join(dir, `${crypto.randomUUID()}.spool`);

const audit = (n: number, outcome = 'read') =>
  `{"level":"audit","n":${n},"outcome":"${outcome}"}\n`;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Somebody who reads as many bytes at a time as they please. */
function reader(most: number) {
  let [text, room] = ['', most];
  return {
    give: async (bytes: Buffer) => {
      const taken = Math.min(room, bytes.length);
      text += bytes.toString('utf8', 0, taken);
      if (room < Infinity) room -= taken;
      return taken;
    },
    read: (bytes: number) => (room = bytes),
    text: () => text,
    audited: () =>
      [...text.matchAll(/^\{"level":"audit","n":(\d+).*\}$/gm)].map(([, n]) => Number(n)),
  };
}

describe('lines that somebody reads', () => {
  it('come out as they went in, and leave no trace on the disk', async () => {
    const [path, { give, text }] = [newPath(), reader(Infinity)];
    const lines = createPipedLines(give);
    lines.keepIn(openAuditSpool(path));
    const written = numbers(0, 500).map((n) => (n % 2 ? audit(n) : `{"level":"info","n":${n}}\n`));
    for (const line of written) lines.write(line);
    await lines.close();
    expect(text()).toBe(written.join(''));
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

describe.concurrent('lines that nobody reads', { timeout: 20_000 }, () => {
  it('are kept if they are audit lines, and come out once, whole and in order', async () => {
    const { give, read, audited, text } = reader(100);
    const lines = createPipedLines(give);
    lines.keepIn(openAuditSpool(newPath()));
    for (const n of numbers(0, 300)) lines.write(`${audit(n)}{"level":"info"}\n`);
    await until(() => lines.counts().spooled > 0);
    for (const n of numbers(300, 400)) lines.write(audit(n));
    await until(() => lines.counts().spooled >= 390);
    read(Infinity);
    await until(() => audited().length === 400);
    lines.write(audit(400));
    await lines.close();
    expect(audited()).toEqual(numbers(0, 401));
    expect(
      text()
        .split('\n')
        .every((line) => line === '' || line.endsWith('}')),
    ).toBe(true);
    expect(lines.counts()).toMatchObject({ spooled: 0, lost: 0 });
  });

  it('are there for the next process, whatever it had half given to the reader before', async () => {
    const [path, first, second] = [newPath(), reader(130), reader(Infinity)];
    const killed = createPipedLines(first.give);
    killed.keepIn(openAuditSpool(path));
    for (const n of numbers(0, 50)) killed.write(audit(n));
    await until(() => killed.counts().spooled > 0);
    appendFileSync(path, '{"level":"audit","n":50,"outc');
    const lines = createPipedLines(second.give);
    lines.keepIn(openAuditSpool(path));
    lines.write(audit(51));
    await lines.close();
    expect(first.audited()).toEqual([0, 1, 2]);
    expect(second.audited()).toEqual([...numbers(3, 50), 51]);
  });

  it('are 10,000 at most, the last of them for changes, and none may be begun then', async () => {
    const { give, read, audited } = reader(0);
    const lines = createPipedLines(give);
    lines.keepIn(openAuditSpool(newPath()));
    lines.write(audit(0));
    await until(() => lines.counts().spooled === 1);
    for (const n of numbers(1, 9_499)) lines.write(audit(n));
    await until(() => lines.counts().spooled === 9_499);
    expect(lines.problem()).toBeUndefined();
    for (const n of numbers(9_499, 9_510)) lines.write(audit(n));
    for (const n of numbers(20_000, 20_501)) lines.write(audit(n, 'magicEdit: changed'));
    await until(() => lines.counts().lost > 0);
    await until(() => lines.counts().spooled === 10_000);
    expect(lines.problem()).toContain('nobody reads stdout');
    expect(lines.counts()).toMatchObject({ spooled: 10_000, lost: 11 });
    read(Infinity);
    await until(() => lines.counts().spooled === 0);
    await lines.close();
    expect(lines.problem()).toBeUndefined();
    expect(audited()).toEqual([...numbers(0, 9_500), ...numbers(20_000, 20_500)]);
  });

  it('wait in memory while the disk takes them neither, and none may be begun then', async () => {
    const { give, read, audited } = reader(0);
    const lines = createPipedLines(give);
    // A directory that can't be made: a file stands there.
    const file = newPath();
    appendFileSync(file, '');
    lines.keepIn(openAuditSpool(join(file, 'below', 'audit.spool')));
    for (const n of numbers(0, 100)) lines.write(audit(n));
    await until(() => lines.problem() !== undefined);
    expect(lines.problem()).toContain('neither by stdout nor by EVENT_STORE_DIR');
    for (const n of numbers(100, 200)) lines.write(audit(n));
    read(Infinity);
    await until(() => lines.problem() === undefined);
    await lines.close();
    expect(audited()).toEqual(numbers(0, 200));
  });

  it('take no more memory than the latest second of them, without a spool too', async () => {
    const { give } = reader(0);
    const lines = createPipedLines(give);
    const line = `{"level":"info","n":"${'x'.repeat(1_000)}"}\n`;
    for (let n = 0; n < 3_000; n += 1) {
      lines.write(line);
      if (n % 100 === 0) await setImmediate();
    }
    await until(() => lines.counts().dropped > 1_000);
    expect(lines.held().length).toBeLessThan(2_000_000);
  });
});
