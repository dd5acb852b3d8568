import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { SignJWT } from 'jose';

import { type Child, openChild } from './child.ts';

export const CLIENT_SECRET = 'bench-client-secret';
const JWT_SECRET = 'a-secret-for-the-bench-that-is-long-enough';

const PARTNER: readonly string[] = ['partner'];

export interface Gateway extends Child {
  readonly dir: string;
}

/** As production runs it: started as `npm start` starts it, tokens checked, log lines written to a file, the event log durable. */
export async function openGateway(
  upstreamUrl: string,
  env: Readonly<Record<string, string>> = {},
  profileDir?: string,
  root?: string,
): Promise<Gateway> {
  const dir = mkdtempSync(join(tmpdir(), 'partner-graph-bench-'));
  const child = await openChild({
    script: 'src/server.ts',
    ...(root !== undefined && { root }),
    imports: ['./scripts/check-node.mjs'],
    readyPath: '/readyz',
    profileDir,
    logFile: join(dir, 'gateway.log'),
    env: {
      NODE_OPTIONS: '--max-semi-space-size=32',
      HOST: '127.0.0.1',
      PARTNER_BASE_URL: `${upstreamUrl}/v2`,
      PARTNER_CLIENT_ID: 'bench',
      PARTNER_CLIENT_SECRET: CLIENT_SECRET,
      PARTNER_API_KEY: 'bench',
      AUTH_JWT_SECRET: JWT_SECRET,
      EVENT_STORE_DIR: join(dir, 'store'),
      ...env,
    },
  });
  return {
    ...child,
    dir,
    async [Symbol.asyncDispose]() {
      await child[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Of a viewer's queries. */
export async function headersOf(subject: string, grants = PARTNER) {
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${await tokenOf(subject, grants)}`,
  };
}

export function tokenOf(subject: string, grants = PARTNER): Promise<string> {
  return new SignJWT({ grants })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(subject)
    .setExpirationTime('2h')
    .sign(new TextEncoder().encode(JWT_SECRET));
}
