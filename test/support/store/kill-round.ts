import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore } from '../../../src/store/store.ts';
import { DAY_MS } from './engines.ts';

const CHILD = fileURLToPath(new URL('append-child.ts', import.meta.url));

export interface Round {
  readonly acknowledged: readonly string[];
  /** When it ended: by the signal it was sent, not by itself. */
  readonly signal: string | null;
}

/** Starts a process that appends, runs `fault` at a random moment after its first acknowledged event, and kills it. */
export async function killRound(
  redisUrl: string | undefined,
  dir: string,
  prefix: string,
  random: () => number,
  fault: () => Promise<void> = async () => {},
): Promise<Round> {
  const args = ['--disable-warning=ExperimentalWarning', CHILD, redisUrl ?? '', dir, prefix];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const acknowledged: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const ended = once(lines, 'close');
  const first = Promise.race([once(lines, 'line'), ended]);
  lines.on('line', (line) => acknowledged.push(line));
  await first;
  await setTimeout(random() * 300);
  await fault();
  await setTimeout(random() * 100);
  child.kill('SIGKILL');
  const [, signal] = await exited;
  await ended;
  return { acknowledged, signal };
}

export interface Tally {
  readonly events: number;
  readonly lost: number;
  readonly repeated: number;
}

/** Opens the log again and compares it with the acknowledged events. */
export async function tally(
  redisUrl: string | undefined,
  dir: string,
  acknowledged: ReadonlySet<string>,
): Promise<Tally> {
  await using store = await openStore(redisUrl, dir, { retentionMs: DAY_MS });
  const counts = new Map<string, number>();
  let after = 0;
  for (;;) {
    const events = (await store.log.read(after, 1_000)).events;
    for (const { position, body } of events) {
      if (position !== ++after) throw new Error(`position ${after} is missing`);
      const { key } = JSON.parse(body) as { readonly key: string };
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    if (events.length === 0) break;
  }
  return {
    events: after,
    lost: [...acknowledged].filter((key) => !counts.has(key)).length,
    repeated: [...counts.values()].filter((count) => count > 1).length,
  };
}
