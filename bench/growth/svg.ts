import type { Plot, Series } from './plot.ts';

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { left: 72, right: 36, top: 40, bottom: 56 };
/** Below the plot, a line each: no curve comes there, whatever its shape. */
const LEGEND_LINE = 18;
const COLOURS = ['#0b6e99', '#c2410c', '#4d7c0f', '#7c3aed', '#475569'];
const colourOf = (i: number) => COLOURS[i % COLOURS.length] ?? '';

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Sizes grow tenfold from point to point, so the axis counts tens. */
function logScale(values: readonly number[], from: number, to: number): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value: number) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { at, ticks };
}

const MAX_TICKS = 8;

/** From zero: a curve must not look steeper than it is. */
function linearScale(values: readonly number[], from: number, to: number): Scale {
  const most = Math.max(...values, Number.MIN_VALUE);
  const tens = 10 ** Math.floor(Math.log10(most));
  const steps = [0.1, 0.2, 0.5, 1, 2].map((part) => part * tens);
  const step = steps.find((each) => most / each <= MAX_TICKS) ?? tens;
  const parts = Math.ceil(most / step);
  const at = (value: number) => from + (value / (parts * step)) * (to - from);
  return { at, ticks: Array.from({ length: parts + 1 }, (_, i) => step * i) };
}

const shown = (value: number): string =>
  value >= 1_000 ? value.toLocaleString('en') : String(Number(value.toPrecision(3)));

const text = (x: number, y: number, content: string, rest = 'text-anchor="middle"') =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${rest}>${content}</text>`;

function curve({ points }: Series, colour: string, x: Scale, y: Scale): string {
  const places = points.map(([px, py]) => `${x.at(px).toFixed(1)},${y.at(py).toFixed(1)}`);
  const dots = places.map((place) => {
    const [cx, cy] = place.split(',');
    return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`;
  });
  return `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}`;
}

function label({ name }: Series, colour: string, i: number): string {
  const y = HEIGHT + LEGEND_LINE * i;
  const [left, right] = [MARGIN.left, MARGIN.left + 24];
  return `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2"/>${text(right + 8, y + 4, name, `fill="${colour}"`)}`;
}

export function svgOf(plot: Plot): string {
  const height = HEIGHT + LEGEND_LINE * plot.series.length;
  const points = plot.series.flatMap((series) => series.points);
  const [left, right] = [MARGIN.left, WIDTH - MARGIN.right];
  const [bottom, top] = [HEIGHT - MARGIN.bottom, MARGIN.top];
  const xs = points.map(([value]) => value);
  const x = plot.tens ? logScale(xs, left, right) : linearScale(xs, left, right);
  const y = linearScale(
    points.map(([, value]) => value),
    bottom,
    top,
  );
  const grid = y.ticks.map(
    (tick) =>
      `<line x1="${left}" x2="${right}" y1="${y.at(tick).toFixed(1)}" y2="${y.at(tick).toFixed(1)}" stroke="#ddd"/>${text(left - 8, y.at(tick) + 4, shown(tick), 'text-anchor="end"')}`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#333">`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    text(WIDTH / 2, 22, plot.title, 'text-anchor="middle" font-size="14" font-weight="bold"'),
    ...grid,
    ...x.ticks.map((tick) => text(x.at(tick), bottom + 18, shown(tick))),
    text(WIDTH / 2, HEIGHT - 12, plot.x),
    text(16, HEIGHT / 2, plot.y, `text-anchor="middle" transform="rotate(-90 16 ${HEIGHT / 2})"`),
    ...plot.series.map((series, i) => curve(series, colourOf(i), x, y)),
    ...plot.series.map((series, i) => label(series, colourOf(i), i)),
    '</svg>\n',
  ].join('\n');
}
