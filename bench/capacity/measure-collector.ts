import { openGateway } from '../gateway.ts';
import type { Loader } from '../loader.ts';
import { webhookJob } from '../webhook-job.ts';

export interface CollectorFigures {
  /** Of the main thread's CPU. */
  readonly share: number;
  readonly pauseUs: number;
}

/** By the gateway's own metrics, while it takes in webhooks. */
export async function measureCollector(
  upstreamUrl: string,
  loader: Loader,
): Promise<CollectorFigures> {
  await using gateway = await openGateway(upstreamUrl);
  const bounds = { connections: 32, durationMs: 4_000, maxCount: 20_000 };
  const { mainThreadUs: before } = await gateway.usage();
  await loader.run(webhookJob(gateway.url, 60_000_000, bounds));
  const { mainThreadUs: after } = await gateway.usage();
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^nodejs_gc_duration_seconds_${name}\\{.*\\} (\\S+)$`, 'gm'))]
      .map(([, value]) => Number(value))
      .reduce((all, value) => all + value, 0);
  return {
    share: (sum('sum') * 1e6) / (after - before),
    pauseUs: (sum('sum') * 1e6) / sum('count'),
  };
}
