/** Digits that mean something: two, three for what begins with a one. */
export function rounded(value: number): string {
  if (value === 0) return '0';
  const digits = Math.abs(value).toExponential().startsWith('1') ? 3 : 2;
  const short = Number(value.toPrecision(digits));
  return short >= 1_000 ? short.toLocaleString('en') : String(short);
}

export const percent = (share: number): string => `${Math.round(share * 100)} %`;
export const signed = (share: number): string => `${share > 0 ? '+' : ''}${percent(share)}`;

const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** The first column says what, the others how much. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  return [
    line(headings),
    `|${headings.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map(line),
  ].join('\n');
}

const marks = (name: string) => [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`] as const;

/** Puts it where the page has a place for it. */
export function withSection(page: string, name: string, content: string): string {
  const [begin, end] = marks(name);
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page must have a place for ${name}, but has not`);
  return `${page.slice(0, from + begin.length)}\n\n${content}\n\n${page.slice(to)}`;
}

export function sectionOf(page: string, name: string): string {
  const [begin, end] = marks(name);
  return page.slice(page.indexOf(begin) + begin.length, page.indexOf(end)).trim();
}
