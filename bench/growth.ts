import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { depthPlots } from './growth/depth.ts';
import { listPlots } from './growth/lists.ts';
import { logPlots } from './growth/log.ts';
import type { Plot } from './growth/plot.ts';
import { subscriberPlots } from './growth/subscribers.ts';
import { svgOf } from './growth/svg.ts';
import { runProgram } from './program.ts';
import { openUpstream } from './upstream-control.ts';

const ALL = { lists: listPlots, depth: depthPlots, subscribers: subscriberPlots, log: logPlots };
const DIR = fileURLToPath(new URL('plots/', import.meta.url));

/** How the gateway's time and memory grow with what it is given. Writes a plot and its figures for each. */
async function growth(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { only: { type: 'string' } } });
  const wanted = values.only?.split(',') ?? Object.keys(ALL);
  const unknown = wanted.filter((name) => !(name in ALL));
  if (unknown.length > 0)
    throw new Error(
      `--only must be of ${Object.keys(ALL).join(', ')}, but got ${unknown.join(', ')}`,
    );

  mkdirSync(DIR, { recursive: true });
  await using upstream = await openUpstream();
  for (const [name, plotsOf] of Object.entries(ALL)) {
    if (!wanted.includes(name)) continue;
    process.stderr.write(`${name}\n`);
    const plots: readonly Plot[] = await plotsOf(upstream);
    for (const plot of plots) writeFileSync(`${DIR}${plot.name}.svg`, svgOf(plot));
    writeFileSync(`${DIR}${name}.json`, figuresOf(plots));
  }
}

/** Four digits: the rest is noise. */
const figuresOf = (plots: readonly Plot[]): string =>
  `${JSON.stringify(plots, (_, value: unknown) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value), 1)}\n`;

await runProgram(growth, `Usage: npm run growth -- [--only ${Object.keys(ALL).join(',')}]`);
