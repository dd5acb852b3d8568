import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { comparisonSections } from './capacity/compare.ts';
import { readFigures } from './capacity/figures.ts';
import { arithmeticSections } from './capacity/tables.ts';
import { svgOf } from './growth/svg.ts';
import { runProgram } from './program.ts';

const PAGE = new URL('../docs/capacity.md', import.meta.url);
const PLOTS = new URL('plots/', import.meta.url);

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** Replaces what is between the markers of a section. */
function withSection(page: string, name: string, content: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page must have a section ${name}, but has not`);
  return `${page.slice(0, from + begin.length)}\n\n${content}\n\n${page.slice(to)}`;
}

/** The tables of docs/capacity.md, computed and simulated from the figures. */
async function capacity(): Promise<void> {
  const { values } = parseArgs({
    options: {
      measure: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  if (values.measure) await (await import('./capacity/measure.ts')).measure(say);
  const file = readFigures();
  const { sections: compared, plots } = comparisonSections(file, say);
  const sections = [...arithmeticSections(file), ...compared];
  for (const [name, content] of sections) process.stdout.write(`## ${name}\n\n${content}\n\n`);
  if (!values.write) return;
  const page = sections.reduce(
    (text, [name, content]) => withSection(text, name, content),
    readFileSync(PAGE, 'utf8'),
  );
  writeFileSync(PAGE, page);
  for (const plot of plots) writeFileSync(new URL(`${plot.name}.svg`, PLOTS), svgOf(plot));
}

await runProgram(capacity, 'Usage: npm run capacity -- [--measure] [--write]');
