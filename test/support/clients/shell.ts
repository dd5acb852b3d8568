import { spawn } from 'node:child_process';

import { root } from './pages.ts';

export interface Outcome {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a command as a reader would, from the repository; ends it as soon as `enough` holds. */
export function shell(
  command: string,
  env: Readonly<Record<string, string>>,
  enough: (output: string) => boolean = () => false,
): Promise<Outcome> {
  const { PATH, HOME, TMPDIR } = process.env;
  const given = { PATH, HOME, TMPDIR, ...env };
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-euc', command], { cwd: root, env: given, detached: true });
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString();
      // The whole group: what is to be ended is the shell's own child.
      if (enough(output) && child.pid) process.kill(-child.pid, 'SIGTERM');
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
