import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Bench } from './bench.ts';
import { type Child, openChild } from './child.ts';
import { type Gateway, openGateway, tokenOf } from './gateway.ts';
import { type Mode, type Workload, DOCUMENTS, requestBody } from './workloads.ts';

/** A server that answers the workloads. */
export interface Target {
  readonly name: string;
  readonly child: Child;
  readonly path: (workload: Workload) => string;
}

const PEERS = ['yoga', 'apollo', 'mercurius', 'mesh'] as const;
const LIMITS = ['raw', 'request', 'dispatch'] as const;
export const TARGETS = ['gateway', ...LIMITS, ...PEERS] as const;
export type TargetName = (typeof TARGETS)[number];

const atGraphql = () => '/graphql';
const byName = (workload: Workload) => `/${workload}`;

export interface Opened extends AsyncDisposable {
  readonly targets: readonly Target[];
  readonly headers: Readonly<Record<string, string>>;
  /** Those that could not be started, and why. */
  readonly missing: ReadonlyMap<TargetName, string>;
}

/** Opens the gateway always: the others are checked against its answers, and the raw limit sends them. */
export async function openTargets(
  { upstream: { url: upstreamUrl }, targets: named, profileDir }: Bench,
  env: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await openGateway(upstreamUrl, env, profileDir));
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${await tokenOf('bench')}`,
  };
  const bytesDir = await keepAnswers(gateway, headers);
  const targets: Target[] = [{ name: 'gateway', child: gateway, path: atGraphql }];
  const missing = new Map<TargetName, string>();

  for (const name of named.filter((each) => each !== 'gateway')) {
    try {
      const child = opened.use(
        await openChild({
          script: scriptOf(name),
          env: {
            PARTNER_BASE_URL: `${upstreamUrl}/v2`,
            BYTES_DIR: bytesDir,
            CLIENT: name,
            ...(env['PARTNER_MAX_CONCURRENCY'] && {
              MAX_CONNECTIONS: env['PARTNER_MAX_CONCURRENCY'],
            }),
          },
        }),
      );
      targets.push({ name, child, path: isLimit(name) ? byName : atGraphql });
    } catch (error) {
      missing.set(name, error instanceof Error ? error.message : String(error));
    }
  }
  const parts = opened.move();
  return { targets, headers, missing, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const isLimit = (name: TargetName): boolean => LIMITS.some((limit) => limit === name);

function scriptOf(name: TargetName): string {
  if (name === 'raw') return 'bench/targets/raw-http.ts';
  return isLimit(name) ? 'bench/targets/aggregator.ts' : `bench/peers/${name}.ts`;
}

/** The gateway's answers as bytes: what the raw limit sends. */
async function keepAnswers(gateway: Gateway, headers: Readonly<Record<string, string>>) {
  const dir = join(gateway.dir, 'answers');
  mkdirSync(dir);
  for (const workload of Object.keys(DOCUMENTS) as Workload[]) {
    const body = requestBody(workload, 'hot', 0);
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
    writeFileSync(join(dir, workload), Buffer.from(await response.arrayBuffer()));
  }
  return dir;
}

/** The data of one answer, whatever else comes with it. */
export async function dataOf(
  target: Target,
  headers: Readonly<Record<string, string>>,
  workload: Workload,
  mode: Mode,
): Promise<unknown> {
  const url = `${target.child.url}${target.path(workload)}`;
  const body = requestBody(workload, mode, 0);
  const response = await fetch(url, { method: 'POST', headers, body });
  const answer = (await response.json()) as { data?: unknown; errors?: unknown };
  if (answer.errors || !answer.data)
    throw new Error(`${target.name} must answer ${workload} with data, but gave errors`);
  return answer.data;
}
