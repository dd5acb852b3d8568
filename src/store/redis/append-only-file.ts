import { setTimeout } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { names } from './names.ts';
import { runScript, script } from './script.ts';
import { valueIn } from './server.ts';

const POLL_MS = 50;
const LONGEST_WAIT_MS = 30_000;

/** Two writes make a transaction in the file. */
const closeTransaction = script(`
  redis.call('SET', KEYS[1], 1)
  redis.call('SET', KEYS[1], 2)
`);

async function rewrite({ command }: Connection): Promise<boolean> {
  try {
    await command(['BGREWRITEAOF']);
  } catch (error) {
    // One that another instance asked for will do as well.
    const { cause } = error instanceof Error ? error : {};
    if (!(cause instanceof Error && cause.message.includes('in progress'))) return false;
  }
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while (performance.now() < deadline) {
    const info = await command<string>(['INFO', 'persistence']);
    const busy = ['aof_rewrite_in_progress', 'aof_rewrite_scheduled'];
    if (busy.every((name) => valueIn(info, name) !== '1')) {
      return valueIn(info, 'aof_last_bgrewrite_status') === 'ok';
    }
    await setTimeout(POLL_MS);
  }
  return false;
}

/**
 * A server killed while it wrote a transaction to its append-only file cuts off the broken command when it
 * starts, but not the transaction's beginning (seen in 7.0.15). Whatever is written next is read as part of
 * that dead transaction at the start after: its positions are taken, and acknowledged events are lost. So
 * after every start of the server, and before anything is acknowledged, the dead transaction is
 * closed and the file rewritten from what the server holds.
 */
export async function mendAppendOnlyFile(
  connection: Connection,
  runId: string,
  onProblem: (message: string) => void,
): Promise<void> {
  const { command } = connection;
  const [mended, epoch] = await command<(string | null)[]>(['MGET', names.mended, names.epoch]);
  if (mended === runId) return;
  // With no log yet there is nothing that could be lost.
  if (epoch !== null && epoch !== undefined) {
    await runScript(command, closeTransaction, [names.mending], []);
    if (!(await rewrite(connection))) {
      onProblem('Redis was restarted and did not rewrite its append-only file: run BGREWRITEAOF');
    }
  }
  await command(['SET', names.mended, runId]);
}
