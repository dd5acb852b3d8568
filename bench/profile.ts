import type { Profiler } from 'node:inspector';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { askChild } from './ask-child.ts';
import { median } from './figures.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { openLoader } from './loader.ts';
import { ONE_ROW, type Spent, WARM_UP_MS, openRow, parseRow } from './one-row.ts';
import { runProgram } from './program.ts';
import { inTurn } from './targets.ts';
import { openUpstream } from './upstream-control.ts';

const USAGE = `npm run profile -- ROW [DIR ...] [--seconds 10]
${ONE_ROW} DIR: other checkouts of the gateway, installed; their columns come first.`;

const ROUND_MS = 500;
/** Modules that take less than this share in every column are added up. */
const MIN_SHARE = 0.01;

/** Microseconds of CPU a request, by module. */
type Column = ReadonlyMap<string, number>;

const OTHER_THREADS = 'other threads: garbage collection, compilation, the event store';

/** Where the CPU of one row goes, by module: the main thread's, divided by a profile, and the other threads' total. */
async function profile(args: readonly string[]): Promise<void> {
  const options = { seconds: { type: 'string', default: '10' } } as const;
  const { positionals, values } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [name, ...dirs] = positionals;
  const row = parseRow(name);
  if (!row) throw new Error('--usage: name a row');
  const durationMs = Number(values.seconds) * 1_000;

  await using upstream = await openUpstream();
  using loader = openLoader();
  await using opened = new AsyncDisposableStack();
  const run = await openRow(row, loader);
  const gateways: { gateway: Gateway; spent: Spent[] }[] = [];
  for (const root of [...dirs.map((dir) => resolve(dir)), undefined]) {
    const gateway = opened.use(await openGateway(upstream.url, {}, undefined, root));
    gateways.push({ gateway, spent: [] });
    await run(gateway, WARM_UP_MS);
  }
  // Without the profile, which takes CPU itself, and in short rounds that alternate, so that noise meets all.
  for (let i = 0; i < durationMs / ROUND_MS; i += 1)
    for (const { gateway, spent } of inTurn(gateways, i)) spent.push(await run(gateway, ROUND_MS));

  const columns: Column[] = [];
  for (const { gateway, spent } of gateways) {
    await askChild(gateway.process, 'profile-start', 'the gateway');
    await run(gateway, durationMs);
    const ended = await askChild<Profiler.Profile>(gateway.process, 'profile-stop', 'the gateway');
    const sampled = byModule(ended);
    const sum = [...sampled.values()].reduce((first, second) => first + second, 0);
    const mainThreadUs = median(spent.map((each) => each.mainThreadUs));
    const otherUs = median(spent.map((each) => each.cpuUs - each.mainThreadUs));
    columns.push(
      new Map([
        ...Array.from(sampled, ([module, us]) => [module, (us / sum) * mainThreadUs] as const),
        [OTHER_THREADS, otherUs],
      ]),
    );
  }
  print(name!, columns);
}

/** Self time. Builtins of V8, such as those of JSON and maps, count for the function that calls them. */
function byModule({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Column {
  const modules = new Map(nodes.map(({ id, callFrame }) => [id, moduleOf(callFrame)]));
  const times = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const module = modules.get(id);
    if (module) times.set(module, (times.get(module) ?? 0) + (timeDeltas[i] ?? 0));
  }
  return times;
}

function moduleOf({ functionName, lineNumber, url }: Profiler.Profile['nodes'][0]['callFrame']) {
  if (functionName === '(idle)') return undefined;
  if (functionName === '(garbage collector)') return 'garbage collection on the main thread';
  if (url.startsWith('wasm:') || functionName.startsWith('wasm-')) return 'undici';
  if (url.startsWith('node:')) return 'Node’s JavaScript';
  // graphql-jit makes code with `new Function`, which has lines and no file.
  if (url === '' && lineNumber > 0) return 'graphql-jit';
  if (url === '') return 'native functions: sockets, files, regular expressions';
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  const [, folder] = /\/(src(?:\/[^/]+){0,2})\/[^/]+$/.exec(url) ?? [];
  return dependency ?? folder ?? 'the rest';
}

function line(first: string, rest: readonly (number | string)[]): void {
  const cells = rest.map((each) => (typeof each === 'number' ? each.toFixed(1) : each));
  process.stdout.write(`| ${[first, ...cells].join(' | ')} |\n`);
}

function print(name: string, columns: readonly Column[]): void {
  const totals = columns.map((column) => [...column.values()].reduce((a, b) => a + b, 0));
  const rowOf = (modules: readonly string[]) =>
    columns.map((column) => modules.reduce((sum, each) => sum + (column.get(each) ?? 0), 0));
  const all = [...new Set(columns.flatMap((column) => [...column.keys()]))];
  const isLarge = (module: string) => rowOf([module]).some((us, i) => us >= MIN_SHARE * totals[i]!);
  const large = all
    .filter(isLarge)
    .toSorted((a, b) => Math.max(...rowOf([b])) - Math.max(...rowOf([a])));
  line(
    `${name}, µs a request`,
    columns.map(() => ''),
  );
  line(
    '---',
    columns.map(() => '---:'),
  );
  for (const module of large) line(module, rowOf([module]));
  line('modules below 1 %', rowOf(all.filter((module) => !isLarge(module))));
  line('all', totals);
}

await runProgram(profile, USAGE);
