import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { type GraphQLAnswer, TEST_SECRET, post, tokenFor } from '../../gateway.ts';

const root = new URL('../../../../', import.meta.url).pathname;

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** The server as an operator runs it: a process that can be killed, stopped and limited. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  readonly stdout: readonly string[];
  /** The reading end of its stdout: it can be paused, and closed. */
  readonly output: Readable;
  readonly stderr: () => string;
  readonly exited: Promise<Ended>;
  signal(name: NodeJS.Signals): void;
  /** `kill -9`; the process has ended when it resolves. */
  kill(): Promise<void>;
  query(document: string, variables?: object): Promise<GraphQLAnswer>;
  /** The response of its readiness check. */
  ready(): Promise<{ readonly status: number; readonly text: string }>;
}

export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The sandbox to use; by default its own one, which generates events. */
  readonly sandbox?: Sandbox;
  readonly storeDir?: string;
  /** Files that are loaded before the server. */
  readonly preload?: readonly string[];
  /** A program that starts the server under some limit: `['prlimit', '--nofile=256']`. */
  readonly under?: readonly string[];
}

/** For a store that outlives its process. The caller removes it. */
export const createStoreDir = (): string => mkdtempSync(join(tmpdir(), 'partner-graph-'));

/** Only what is listed: a developer's own environment must not affect a test. */
export function environmentOf({ env, sandbox }: ProcessOptions, storeDir: string) {
  const partner = sandbox && {
    PARTNER_BASE_URL: sandbox.connection.baseUrl,
    PARTNER_CLIENT_ID: sandbox.connection.clientId,
    PARTNER_CLIENT_SECRET: sandbox.connection.clientSecret,
    PARTNER_API_KEY: sandbox.connection.apiKey,
  };
  return {
    PATH: process.env['PATH'] ?? '',
    // As `npm start` has it: without it every start would compile all sources again.
    NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
    PORT: '0',
    HOST: '127.0.0.1',
    AUTH_JWT_SECRET: TEST_SECRET,
    EVENT_STORE_DIR: storeDir,
    SANDBOX_PULSE_MS: '0',
    LIMIT_SOCKETS_PER_VIEWER: '1000',
    ...partner,
    ...env,
  };
}

function launch(options: ProcessOptions, storeDir: string): ChildProcess {
  const files = ['test/support/faults/process/die-with-parent.ts', ...(options.preload ?? [])];
  const preload = files.flatMap((file) => ['--import', join(root, file)]);
  const [program, ...args] = [
    ...(options.under ?? []),
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    ...preload,
    join(root, 'src/server.ts'),
  ];
  const env = environmentOf(options, storeDir);
  // In a session of its own, as servers of Redis are: some tests stop it.
  return spawn(program, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Reads what a process writes from its first byte on. */
function listenTo(child: ChildProcess) {
  const stdout: string[] = [];
  let stderr = '';
  const lines = createInterface({ input: child.stdout! });
  lines.on('line', (line) => stdout.push(line));
  child.stderr!.on('data', (text) => (stderr += String(text)));
  const exited = once(child, 'close').then(([code, signal]): Ended => ({ code, signal }));
  return { lines, stdout, stderr: () => stderr, exited };
}

/** Runs it until it ends by itself. */
export async function runToEnd(options: ProcessOptions): Promise<Ended & { stderr: string }> {
  const storeDir = options.storeDir ?? createStoreDir();
  const { stderr, exited } = listenTo(launch(options, storeDir));
  const ended = await exited;
  if (!options.storeDir) rmSync(storeDir, { recursive: true, force: true });
  return { ...ended, stderr: stderr() };
}

/** Resolves once it accepts requests. */
export async function startServer(options: ProcessOptions = {}): Promise<ServerProcess> {
  const storeDir = options.storeDir ?? createStoreDir();
  const child = launch(options, storeDir);
  const { lines, stdout, stderr, exited } = listenTo(child);
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const at = /"serving (http:[^"]+)\/graphql"/.exec(line)?.[1];
      if (at) resolve(at);
    });
    void exited.then(({ code }) =>
      reject(new Error(`the server ended with ${code} before it served: ${stderr()}`)),
    );
  });
  const signal = (name: NodeJS.Signals): void => void child.kill(name);
  const kill = async (): Promise<void> => {
    signal('SIGKILL');
    await exited;
  };
  return {
    url,
    pid: child.pid ?? 0,
    stdout,
    output: child.stdout!,
    stderr,
    exited,
    signal,
    kill,
    query: async (document, variables) =>
      post(
        url,
        { query: document, variables },
        { authorization: `Bearer ${await tokenFor(['partner'])}` },
      ),
    async ready() {
      const response = await fetch(`${url}/readyz`);
      return { status: response.status, text: await response.text() };
    },
    async [Symbol.asyncDispose]() {
      await kill();
      if (!options.storeDir) rmSync(storeDir, { recursive: true, force: true });
    },
  };
}
