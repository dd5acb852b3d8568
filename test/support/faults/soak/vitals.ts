import { setTimeout } from 'node:timers/promises';

export interface Vitals {
  /** How fast memory grows that is never freed, in megabytes a minute. */
  heapSlope(): number;
  readonly heapMb: () => number;
  /** The highest 99th percentile measured, in milliseconds. */
  readonly eventLoopP99Ms: () => number;
  stop(): Promise<void>;
}

const EVERY_MS = 500;
/** The lowest of this many samples is the heap after a collection: there is a sample every five seconds. */
const WINDOW = 20;
/** Caches fill up first. */
const WARM_UP = 0.4;

interface Sample {
  readonly minute: number;
  readonly heapMb: number;
}

/** Reads a server's metrics until it ends. */
export function watchVitals(url: string): Vitals {
  const stopping = new AbortController();
  const samples: Sample[] = [];
  let worstMs = 0;

  async function sample(): Promise<void> {
    const text = await (await fetch(`${url}/metrics`)).text();
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    const heapMb = read('nodejs_heap_size_used_bytes') / 2 ** 20;
    samples.push({ minute: performance.now() / 60_000, heapMb });
    worstMs = Math.max(worstMs, read('nodejs_eventloop_lag_p99_seconds') * 1_000);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sample();
      await setTimeout(EVERY_MS);
    }
  }

  const running = run();
  return {
    heapMb: () => samples.at(-1)?.heapMb ?? 0,
    heapSlope: () => slopeOf(valleysOf(samples)),
    eventLoopP99Ms: () => worstMs,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function valleysOf(samples: readonly Sample[]): readonly Sample[] {
  const later = samples.slice(Math.floor(samples.length * WARM_UP));
  const valleys: Sample[] = [];
  for (let at = 0; at + WINDOW <= later.length; at += WINDOW) {
    const some = later.slice(at, at + WINDOW);
    valleys.push(some.reduce((lowest, each) => (each.heapMb < lowest.heapMb ? each : lowest)));
  }
  return valleys;
}

/** Least squares. */
function slopeOf(points: readonly Sample[]): number {
  const mean = (of: (point: Sample) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(({ minute }) => minute), mean(({ heapMb }) => heapMb)];
  const spread = points.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  const common = points.reduce((sum, each) => sum + (each.minute - x) * (each.heapMb - y), 0);
  return spread === 0 ? 0 : common / spread;
}
