import type { Figure } from './figures.ts';

const HEADINGS = [
  'row',
  'target',
  'ratio',
  'spread',
  'CPU µs',
  'per s',
  'ms',
  'upstream calls',
  'MB',
  'note',
  'goal',
];

const number = (value: number | undefined, digits: number): string =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

/** Without a verdict where there is nothing to be met. */
function goalOf({ goal, met }: Figure): string {
  if (goal === undefined || met === undefined) return goal ?? '';
  return `${goal} ${met ? '✓' : '✗'}`;
}

function cellsOf(figure: Figure): readonly string[] {
  return [
    figure.row,
    figure.target,
    number(figure.ratio, 2),
    figure.spread === undefined || Number.isNaN(figure.spread)
      ? ''
      : `${number(figure.spread * 100, 0)} %`,
    number(figure.cpuUs, 0),
    number(figure.perSecond, 0),
    number(figure.ms, 1),
    number(figure.upstreamCalls, 2).replace(/\.00$/, ''),
    number(figure.memoryMb, 0),
    figure.note ?? '',
    goalOf(figure),
  ];
}

/** As Markdown, so that it can be pasted as it is printed. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [HEADINGS, ...figures.map(cellsOf)];
  const widths = HEADINGS.map((_, i) => Math.max(...rows.map((cells) => cells[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, i) => (i < 2 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(HEADINGS), rule, ...figures.map((figure) => line(cellsOf(figure)))].join('\n');
}
