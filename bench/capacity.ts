import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { readFigures } from './capacity/figures.ts';
import { withSection } from './capacity/markdown.ts';
import { sectionsOf } from './capacity/sections.ts';
import { simulatedSections } from './capacity/simulated.ts';
import { svgOf } from './growth/svg.ts';

const PAGE = new URL('../docs/capacity.md', import.meta.url);
const PLOTS = new URL('plots/', import.meta.url);

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** The tables of the page on capacity, from the figures: computed, and simulated. */
async function capacity(): Promise<void> {
  const { values } = parseArgs({
    options: {
      measure: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  });
  if (values.measure) await (await import('./capacity/measure.ts')).measure(say);
  const file = readFigures();
  const { sections: simulated, plots } = simulatedSections(file, say);
  const sections = [...sectionsOf(file), ...simulated];
  for (const [name, content] of sections) process.stdout.write(`## ${name}\n\n${content}\n\n`);
  if (!values.write) return;
  const page = sections.reduce(
    (text, [name, content]) => withSection(text, name, content),
    readFileSync(PAGE, 'utf8'),
  );
  writeFileSync(PAGE, page);
  for (const plot of plots) writeFileSync(new URL(`${plot.name}.svg`, PLOTS), svgOf(plot));
}

await capacity();
