import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { median } from './figures.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { openLoader } from './loader.ts';
import { ONE_ROW, WARM_UP_MS, openRow, parseRow } from './one-row.ts';
import { runProgram } from './program.ts';
import { inTurn } from './targets.ts';
import { openUpstream } from './upstream-control.ts';

const USAGE = `npm run compare -- DIR ROW [--rounds 24]
DIR: another checkout of the gateway, installed. ${ONE_ROW}`;

/** Processes of each checkout: what V8 compiles differs from process to process. */
const PROCESSES = 2;
const ROUND_MS = 300;

/** The CPU of this checkout as a share of another's, in short rounds that alternate, so that the machine's noise meets both. */
async function compare(args: readonly string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '24' } } as const;
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [dir, name] = positionals;
  const row = parseRow(name);
  if (dir === undefined || !row) throw new Error('--usage: name a checkout and a row');

  await using upstream = await openUpstream();
  using loader = openLoader();
  await using opened = new AsyncDisposableStack();
  const run = await openRow(row, loader);
  const gateways: { gateway: Gateway; cpuUs: number[] }[] = [];
  for (let i = 0; i < PROCESSES; i += 1)
    for (const root of [resolve(dir), undefined]) {
      const gateway = await openGateway(upstream.url, {}, undefined, root);
      gateways.push({ gateway: opened.use(gateway), cpuUs: [] });
    }

  for (const { gateway } of gateways) await run(gateway, WARM_UP_MS);
  for (let i = 0; i < Number(values.rounds); i += 1)
    for (const { gateway, cpuUs } of inTurn(gateways, i))
      cpuUs.push((await run(gateway, ROUND_MS)).cpuUs);

  const [first] = gateways;
  for (const [i, { cpuUs }] of gateways.entries()) {
    const ratio = median(cpuUs.map((us, round) => us / first!.cpuUs[round]!));
    const whose = i % 2 === 0 ? 'that checkout' : 'this checkout';
    process.stdout.write(`${whose}: ${median(cpuUs).toFixed(0)} µs, ${ratio.toFixed(2)}\n`);
  }
}

await runProgram(compare, USAGE);
