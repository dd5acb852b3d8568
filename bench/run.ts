import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';

import type { Bench } from './bench.ts';
import { ROOT } from './child.ts';
import type { Figure } from './figures.ts';
import { installPeers } from './install.ts';
import { openLoader } from './loader.ts';
import { USAGE, readOptions } from './options.ts';
import { runProgram } from './program.ts';
import { broadcastRows } from './rows/broadcast.ts';
import { coldRows } from './rows/cold.ts';
import { filteredRows } from './rows/filtered.ts';
import { ingestRows } from './rows/ingest.ts';
import { requestRows } from './rows/requests.ts';
import { startRows } from './rows/start.ts';
import { tableOf } from './table.ts';
import { openUpstream } from './upstream-control.ts';

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Nothing where there is no git. */
function currentCommit(): string | undefined {
  const args = ['rev-parse', '--short', 'HEAD'];
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

async function run(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  const startedAt = performance.now();
  const commit = currentCommit();
  installPeers(say);
  await using upstream = await openUpstream();
  using loader = openLoader();
  const bench: Bench = {
    upstream,
    loader,
    targets: options.targets,
    quick: options.quick,
    rounds: options.quick ? 3 : 7,
    roundMs: options.quick ? 300 : 800,
    warmUpMs: options.quick ? 1_500 : 3_000,
    profileDir: options.profile,
    wants: (row) => options.only.includes(row),
    say,
  };

  const figures: Figure[] = [];
  const all = [requestRows, coldRows, broadcastRows, filteredRows, ingestRows, startRows];
  for (const rows of all) figures.push(...(await rows(bench)));

  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.version}`;
  const load = loadavg()[0]?.toFixed(1) ?? '';
  const measured = commit ? `${commit} on ${machine}` : machine;
  process.stdout.write(
    `${measured}; ${seconds} s, load ${load} at the end\n\n${tableOf(figures)}\n`,
  );
  if (options.json)
    writeFileSync(options.json, `${JSON.stringify({ commit, machine, figures }, null, 2)}\n`);
}

await runProgram(run, USAGE);
