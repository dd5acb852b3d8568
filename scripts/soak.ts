import { cpus, totalmem } from 'node:os';

import { soak } from '../test/support/faults/soak/soak.ts';
import { amountOf } from './amount.ts';

/**
 * Runs webhooks, edits, queries, subscribers and faults at the same time: `node scripts/soak.ts [minutes]`. Exits with
 * code 1 if an acknowledged event was lost or repeated, or a viewer received a record that they may not read.
 */
const minutes = amountOf('minutes', 5);
const report = await soak({
  seconds: minutes * 60,
  faultMs: 1_000,
  faultEveryMs: 2_000,
  onFault: (name) => process.stderr.write(`${name}\n`),
});

const [cpu] = cpus();
const memory = Math.round(totalmem() / 2 ** 30);
const times = Map.groupBy(report.faults, (name) => name);
const rows: readonly (readonly [string, string | number])[] = [
  ['acknowledged events', report.acknowledged],
  ['not answered 2xx, and sent again', report.refused],
  ['lost', report.lost],
  ['repeated', report.repeated],
  ['shown to the wrong viewer', report.leaked],
  ['queries and edits sent', report.asked],
  ['answered', report.answered],
  ['edits made', report.edited],
  ['connections of five subscribers', report.connections],
  ['faults', [...times].map(([name, all]) => `${name} × ${all.length}`).join(', ')],
  ['heap at the end', `${report.heapMb.toFixed(0)} MB`],
  ['heap growth after warming up', `${report.heapSlopeMbPerMinute.toFixed(2)} MB a minute`],
  ['event loop delay, worst p99', `${report.eventLoopP99Ms.toFixed(0)} ms`],
];
console.log(
  `${minutes} minutes, Node ${process.version}, ${cpus().length} × ${cpu?.model}, ${memory} GB\n`,
);
console.log('| | |\n|---|---|');
for (const [name, value] of rows) console.log(`| ${name} | ${value} |`);
if (report.lost + report.repeated + report.leaked > 0) process.exitCode = 1;
