import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

import { askChild } from './ask-child.ts';
import type { Question, Usage } from './probe.ts';

export interface ChildOptions {
  /** Below the root. */
  readonly script: string;
  /** The checkout; by default this one. */
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Loaded before it. */
  readonly imports?: readonly string[];
  /** Where its output goes; nowhere by default. */
  readonly logFile?: string;
  /** Where a CPU profile goes when the process ends. */
  readonly profileDir?: string | undefined;
  /** A path that answers 200 once the process is ready. */
  readonly readyPath?: string;
}

export interface Child extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
  /** From the start of the process to its first good answer. */
  readonly readyMs: number;
  usage(): Promise<Usage>;
  usageAfterGc(): Promise<Usage>;
}

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 3_000;

/** A measured process on a free port of loopback, with the probe in it. */
export async function openChild(options: ChildOptions): Promise<Child> {
  const port = await freePort();
  const output = openSync(options.logFile ?? '/dev/null', 'a');
  const startedAt = performance.now();
  const { profileDir, script, root = ROOT, imports = [] } = options;
  const profiled = profileDir ? ['--cpu-prof', '--cpu-prof-dir', profileDir] : [];
  const loaded = [...imports, `${ROOT}bench/probe.ts`].flatMap((path) => ['--import', path]);
  const child = spawn(process.execPath, [...profiled, ...loaded, script], {
    cwd: root,
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', PORT: String(port), ...options.env },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  const stop = () => stopped(child);
  const asked = (question: Question) => askChild<Usage>(child, question, script);
  try {
    await untilReady(`${url}${options.readyPath ?? '/'}`, child, script);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    process: child,
    readyMs: performance.now() - startedAt,
    usage: () => asked('usage'),
    usageAfterGc: () => asked('usage-after-gc'),
    [Symbol.asyncDispose]: stop,
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

async function untilReady(url: string, child: ChildProcess, script: string): Promise<void> {
  const endsAt = performance.now() + READY_WITHIN_MS;
  while (performance.now() < endsAt) {
    if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    // Any answer shows that a raw target listens; the gateway says itself when it is ready.
    if (response && response.status !== 503) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${script} must be ready within ${READY_WITHIN_MS} ms, but was not`);
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(impatience);
}
