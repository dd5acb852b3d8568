// From a cached answer to the longest that a call or an operation may take.
const BOUNDS = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15];

interface Series {
  readonly labels: string;
  /** Of each bound, what is above those before it. */
  readonly counts: number[];
  count: number;
  sum: number;
}

/**
 * Seconds by two labels, whose values must be plain text. prom-client's own would spell and hash the labels with every
 * request, which takes longer than all else that is counted of it.
 */
export function createHistogram(name: string, help: string, labels: readonly [string, string]) {
  const series = new Map<string, Map<string, Series>>();

  function seriesOf(first: string, second: string): Series {
    let bySecond = series.get(first);
    if (!bySecond) series.set(first, (bySecond = new Map()));
    let found = bySecond.get(second);
    if (!found) {
      const text = `${labels[0]}="${first}",${labels[1]}="${second}"`;
      found = { labels: text, counts: BOUNDS.map(() => 0), count: 0, sum: 0 };
      bySecond.set(second, found);
    }
    return found;
  }

  return {
    observe(first: string, second: string, seconds: number): void {
      const of = seriesOf(first, second);
      of.count += 1;
      of.sum += seconds;
      const at = BOUNDS.findIndex((bound) => seconds <= bound);
      if (at >= 0) of.counts[at] = (of.counts[at] ?? 0) + 1;
    },
    text(): string {
      const lines = [...series.values()].flatMap((some) => [...some.values()].flatMap(linesOf));
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n');
    },
  };

  function linesOf(of: Series): readonly string[] {
    let below = 0;
    const buckets = BOUNDS.map((bound, at) => {
      below += of.counts[at] ?? 0;
      return `${name}_bucket{le="${bound}",${of.labels}} ${below}`;
    });
    return [
      ...buckets,
      `${name}_bucket{le="+Inf",${of.labels}} ${of.count}`,
      `${name}_sum{${of.labels}} ${of.sum}`,
      `${name}_count{${of.labels}} ${of.count}`,
    ];
  }
}
