import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';

import { afterAll, describe, expect, it } from 'vitest';

import { type Output, createOutput } from '../../src/observability/output.ts';
import { until } from '../support/ws/raw-socket.ts';

const dir = mkdtempSync(join(tmpdir(), 'partner-graph-'));
const opened: Output[] = [];
const readers: { discard(): void }[] = [];
afterAll(async () => {
  // An output that still has lines tries to write them every 50 ms, also during the tests of other files.
  for (const each of readers) each.discard();
  await Promise.all(opened.map(async (output) => output.close()));
  for (const output of opened) expect(output.counts().unwritten).toBe(0);
  rmSync(dir, { recursive: true, force: true });
});
function openOutput(give: (bytes: Buffer) => number): Output {
  const output = createOutput(give);
  opened.push(output);
  return output;
}
const newPath = (): string => join(dir, `${crypto.randomUUID()}.spool`);

const audit = (n: number, outcome = 'read') =>
  `{"level":"audit","n":${n},"outcome":"${outcome}"}\n`;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

const auditedIn = (text: string) =>
  [...text.matchAll(/^\{"level":"audit","n":(\d+).*\}$/gm)].map(([, n]) => Number(n));

/** Reads at most `most` bytes until `read` allows more. */
function reader(most: number) {
  let [bytesRead, left, isRead] = [Buffer.alloc(0), most, true];
  const text = () => bytesRead.toString();
  const created = {
    give: (bytes: Buffer) => {
      if (!isRead) return bytes.length;
      if (left === 0) throw new Error('EAGAIN');
      const taken = Math.min(left, bytes.length);
      bytesRead = Buffer.concat([bytesRead, bytes.subarray(0, taken)]);
      if (left < Infinity) left -= taken;
      return taken;
    },
    read: (bytes: number) => (left = bytes),
    text,
    audited: () => auditedIn(text()),
    /** Takes everything from now on, and keeps nothing. */
    discard: () => void ([bytesRead, isRead] = [Buffer.alloc(0), false]),
  };
  readers.push(created);
  return created;
}

describe('with a reader', () => {
  it('writes queued lines when the process exits', async () => {
    const source = new URL('../../src/observability/output.ts', import.meta.url).href;
    const script = `import { openStdout } from '${source}';
      const output = openStdout();
      for (let n = 0; n < 3; n += 1) output.write('{"level":"info"}\\n');
      process.exit(1);`;
    const args = ['--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    expect(await textOf(child.stdout)).toBe('{"level":"info"}\n'.repeat(3));
  });

  it('writes a line about a change immediately', () => {
    const { give, audited } = reader(Infinity);
    const lines = openOutput(give);
    lines.write(audit(0));
    expect(audited()).toEqual([]);
    lines.write(audit(1, 'magicEdit: asked for'));
    expect(audited()).toEqual([0, 1]);
  });

  it('writes lines unchanged, and no file', async () => {
    const [path, { give, text }] = [newPath(), reader(Infinity)];
    const lines = openOutput(give);
    lines.openSpool(path);
    const written = numbers(0, 500).map((n) => (n % 2 ? audit(n) : `{"level":"info","n":${n}}\n`));
    for (const line of written) lines.write(line);
    await lines.close();
    expect(text()).toBe(written.join(''));
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

describe.concurrent('without a reader', () => {
  it('keeps audit lines, and writes each once, whole and in order, when it is read again', async () => {
    // The last byte it takes is in the middle of a line that is not an audit line.
    const { give, read, audited, text } = reader(110);
    const lines = openOutput(give);
    lines.openSpool(newPath());
    for (const n of numbers(0, 300)) {
      lines.write(audit(n));
      lines.write('{"level":"info"}\n');
    }
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

  it('leaves audit lines to the next process, an incomplete one included', async () => {
    const [path, first, second] = [newPath(), reader(130), reader(Infinity)];
    const killed = openOutput(first.give);
    killed.openSpool(path);
    for (const n of numbers(0, 50)) killed.write(audit(n));
    await until(() => killed.counts().spooled > 0);
    appendFileSync(path, '{"level":"audit","n":50,"outc');
    const lines = openOutput(second.give);
    lines.openSpool(path);
    lines.write(audit(51));
    await lines.close();
    expect(first.audited()).toEqual([0, 1, 2]);
    expect(second.audited()).toEqual([...numbers(3, 50), 51]);
    // The first process has left half a line in the pipe.
    expect(auditedIn(first.text() + second.text())).toEqual([...numbers(0, 50), 51]);
  });

  it.each([0, 3])(
    'keeps the line of a change apart from the incomplete line that an earlier process left after %i whole ones',
    (count) => {
      const path = newPath();
      appendFileSync(
        path,
        `${numbers(0, count)
          .map((n) => audit(n))
          .join('')}{"level":"audit","n":3,"outc`,
      );
      const { give, read } = reader(Infinity);
      const lines = openOutput(give);
      if (count > 0) read(0);
      lines.openSpool(path);
      read(0);
      lines.write(audit(4, 'magicEdit: asked for'));
      expect(auditedIn(readFileSync(path, 'utf8'))).toEqual([...numbers(0, count), 4]);
    },
  );

  it('never empties the spool before the new lines are written', async () => {
    const [path, { give, read }] = [newPath(), reader(0)];
    const lines = openOutput(give);
    lines.openSpool(path);
    for (const n of numbers(0, 10)) lines.write(audit(n));
    await until(() => lines.counts().spooled === 10);
    const before = openSync(path, 'r');
    read(Infinity);
    await until(() => lines.counts().spooled === 0);
    expect(auditedIn(readFileSync(before, 'utf8'))).toEqual(numbers(0, 10));
    closeSync(before);
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  it('reports a problem at once if neither the reader nor the disk takes the line of a change', () => {
    const lines = openOutput(reader(0).give);
    const file = newPath();
    appendFileSync(file, '');
    lines.openSpool(join(file, 'audit.spool'));
    lines.write(audit(0));
    expect(lines.problem()).toBeUndefined();
    lines.write(audit(1, 'magicEdit: asked for'));
    expect(lines.problem()).toContain('EVENT_STORE_DIR');
  });

  it('keeps at most 10,000 audit lines, the last ones for changes, and then reports a problem', async () => {
    const { give, read, audited } = reader(0);
    const lines = openOutput(give);
    lines.openSpool(newPath());
    lines.write(audit(0));
    await until(() => lines.counts().spooled === 1);
    for (const n of numbers(1, 9_499)) lines.write(audit(n));
    await until(() => lines.counts().spooled === 9_499);
    expect(lines.problem()).toBeUndefined();
    for (const n of numbers(9_499, 9_510)) lines.write(audit(n));
    for (const n of numbers(20_000, 20_501)) lines.write(audit(n, 'magicEdit: changed'));
    await until(() => lines.counts().lost > 0);
    await until(() => lines.counts().spooled === 10_000);
    expect(lines.problem()).toContain('stdout is blocked');
    expect(lines.counts()).toMatchObject({ spooled: 10_000, lost: 11 });
    read(Infinity);
    await until(() => lines.counts().spooled === 0);
    await lines.close();
    expect(lines.problem()).toBeUndefined();
    expect(audited()).toEqual([...numbers(0, 9_500), ...numbers(20_000, 20_500)]);
  });

  it('keeps audit lines in memory while the disk fails too, and reports a problem', async () => {
    const { give, read, audited } = reader(0);
    const lines = openOutput(give);
    // A directory that can't be made: a file stands there.
    const file = newPath();
    appendFileSync(file, '');
    lines.openSpool(join(file, 'below', 'audit.spool'));
    for (const n of numbers(0, 100)) lines.write(audit(n));
    await until(() => lines.problem() !== undefined);
    expect(lines.problem()).toContain('EVENT_STORE_DIR');
    for (const n of numbers(100, 200)) lines.write(audit(n));
    read(Infinity);
    await until(() => lines.problem() === undefined);
    await lines.close();
    expect(audited()).toEqual(numbers(0, 200));
  });

  it('keeps no more than a second of other lines in memory', async () => {
    const { give } = reader(0);
    const lines = openOutput(give);
    const line = `{"level":"info","n":"${'x'.repeat(1_000)}"}\n`;
    for (let n = 0; n < 3_000; n += 1) {
      lines.write(line);
      if (n % 100 === 0) await setImmediate();
    }
    // If writing them takes longer than a second, the last ones are dropped a second later.
    await until(() => lines.counts().dropped === 3_000);
    expect(lines.counts().unwritten).toBe(0);
  });

  it('keeps no more than 10,000 lines in memory, however fast they come', () => {
    const lines = openOutput(reader(0).give);
    for (let n = 0; n < 25_000; n += 1) lines.write('{"level":"info"}\n');
    expect(lines.counts().unwritten).toBeLessThanOrEqual(10_000);
    expect(lines.counts().dropped).toBeGreaterThanOrEqual(15_000);
    for (let n = 0; n < 25_000; n += 1) lines.write(audit(n, 'magicEdit: changed'));
    expect(lines.counts()).toMatchObject({ unwritten: 10_000, lost: 15_000 });
  });

  it('drops nothing from a full queue while the reader reads', () => {
    const { give, read } = reader(0);
    const lines = openOutput(give);
    const write = (n: number) => lines.write(`{"level":"info","n":${n}}\n`);
    for (const n of numbers(0, 9_500)) write(n);
    read(65_536);
    write(9_500);
    expect(lines.counts()).toMatchObject({ dropped: 0 });
    expect(lines.counts().unwritten).toBeLessThan(9_000);
  });

  it('spools a change immediately, and other audit lines at exit', () => {
    const path = newPath();
    const lines = openOutput(reader(0).give);
    lines.openSpool(path);
    lines.update(true);
    lines.write(audit(0));
    lines.update(true);
    lines.write(audit(1, 'magicEdit: asked for'));
    expect(readFileSync(path, 'utf8')).toBe(audit(0) + audit(1, 'magicEdit: asked for'));
    lines.write(audit(2));
    lines.update(true);
    expect(readFileSync(path, 'utf8')).toContain(audit(2));
  });

  it('has the line of a change in the spool before the change is sent, even if it is killed then', async () => {
    const [path, source] = [
      newPath(),
      new URL('../../src/observability/output.ts', import.meta.url).href,
    ];
    const change = audit(1, 'magicEdit: asked for');
    // More than a pipe holds.
    const script = `import { openStdout } from '${source}';
      const output = openStdout();
      output.openSpool('${path}');
      output.write('{"level":"info","x":"' + 'x'.repeat(2 ** 20) + '"}\\n');
      output.write(${JSON.stringify(audit(0))});
      output.write(${JSON.stringify(change)});
      process.kill(process.pid, 'SIGKILL');`;
    const args = ['--input-type=module', '--eval', script];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child, 'exit');
    child.stdout.destroy();
    expect(readFileSync(path, 'utf8')).toBe(change);
  });

  it('writes the spool for its own user only, and empties it when its lines are written', async () => {
    const [path, { give, read }] = [newPath(), reader(0)];
    const lines = openOutput(give);
    lines.openSpool(path);
    lines.write(audit(1));
    await until(() => lines.counts().spooled === 1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    read(Infinity);
    await until(() => statSync(path).size === 0);
    await lines.close();
  });

  it('removes from the spool what was written, once it has more than 20,000 lines', () => {
    const [path, { give, read }] = [newPath(), reader(0)];
    const spooled = numbers(0, 19_998).map((n) => audit(n));
    appendFileSync(path, spooled.join(''));
    const lines = openOutput(give);
    lines.openSpool(path);
    lines.update(true);
    // A slow reader: it never reads all lines, so the output stays blocked.
    read(`\n${spooled.slice(0, -1).join('')}`.length);
    for (const n of [19_999, 20_000]) {
      lines.update();
      expect(lines.counts()).toMatchObject({ spooled: n });
      lines.write(audit(n));
    }
    lines.update();
    expect(lines.counts()).toMatchObject({ spooled: 3, unwritten: 3, lost: 0 });
    expect(readFileSync(path, 'utf8')).toBe([19_997, 19_999, 20_000].map((n) => audit(n)).join(''));
  });

  it('counts characters of several bytes right when a write ends within a line', () => {
    const { give, read, text } = reader(7);
    const lines = openOutput(give);
    const written = numbers(0, 20).map((n) => `{"level":"info","n":"é€😀${n}"}\n`);
    for (const line of written) lines.write(line);
    for (let part = 1; text().length === 0 || lines.counts().unwritten > 0; part += 5) {
      read(part);
      lines.update();
    }
    expect(text()).toBe(written.join(''));
  });
});
