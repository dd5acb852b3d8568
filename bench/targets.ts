import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type AnswerBytes, type Server, checkedAnswers } from './answers.ts';
import type { Bench } from './bench.ts';
import { openChild } from './child.ts';
import { type Gateway, headersOf, openGateway } from './gateway.ts';
import { WORKLOADS, type Workload, requestBody } from './workloads.ts';

/** A server that answers the workloads. */
export interface Target extends Server {
  readonly answerBytes: AnswerBytes;
}

const PEERS = ['yoga', 'apollo', 'mercurius', 'mesh'] as const;
const LIMITS = ['raw', 'request', 'dispatch'] as const;
export const TARGETS = ['gateway', ...LIMITS, ...PEERS] as const;
export type TargetName = (typeof TARGETS)[number];

const atGraphql = () => '/graphql';
const byName = (workload: Workload) => `/${workload}`;

export interface Opened extends AsyncDisposable {
  /** The gateway first. */
  readonly targets: readonly [Target, ...Target[]];
}

/**
 * Opens the gateway always: the others are checked against its answers, and the raw limit sends them. A peer that does
 * not start is left out; without a limit there is no ratio.
 */
export async function openTargets(
  { upstream: { url: upstreamUrl }, targets: named, profileDir, say }: Bench,
  env: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  await using opened = new AsyncDisposableStack();
  const gateway = opened.use(await openGateway(upstreamUrl, env, profileDir));
  const headers = await headersOf('bench');
  const bytesDir = await keepAnswers(gateway, headers);
  const first: Server = { name: 'gateway', child: gateway, path: atGraphql, headers };
  const targets: [Target, ...Target[]] = [
    { ...first, answerBytes: await checkedAnswers(first, first) },
  ];

  const maxConnections = env['PARTNER_MAX_CONCURRENCY'];
  const start = (name: TargetName) =>
    openChild({
      script: scriptOf(name),
      env: {
        PARTNER_BASE_URL: `${upstreamUrl}/v2`,
        BYTES_DIR: bytesDir,
        CLIENT: name,
        ...(maxConnections && { MAX_CONNECTIONS: maxConnections }),
      },
    });
  for (const name of named.filter((each) => each !== 'gateway')) {
    const child = await start(name).catch((error: unknown) => {
      if (isLimit(name)) throw error;
      say(`${name} is left out: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (!child) continue;
    opened.use(child);
    const server: Server = { name, child, path: isLimit(name) ? byName : atGraphql, headers };
    targets.push({ ...server, answerBytes: await checkedAnswers(server, first) });
  }
  const parts = opened.move();
  return { targets, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** Each round in another order, and every other one backwards, so that no target always follows the heaviest. */
export function inTurn<T>(targets: readonly T[], round: number): readonly T[] {
  const start = round % targets.length;
  const turned = [...targets.slice(start), ...targets.slice(0, start)];
  return round % 2 === 0 ? turned : turned.toReversed();
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
  for (const workload of WORKLOADS) {
    const body = requestBody(workload, 'hot', 0);
    const response = await fetch(`${gateway.url}/graphql`, { method: 'POST', headers, body });
    writeFileSync(join(dir, workload), Buffer.from(await response.arrayBuffer()));
  }
  return dir;
}
